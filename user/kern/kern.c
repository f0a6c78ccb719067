/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/kern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kern/half.h"
#include "kern/loader.h"
#include "kern/object.h"
#include "kern/pins.h"
#include "kern/view.h"

static void close_fds(struct kern *k)
{
	for (int i = 0; i < HALF_PINS; i++) {
		if (k->fds[i] >= 0)
			close(k->fds[i]);
		k->fds[i] = -1;
	}
}

static void take_facts(struct kern *k, const struct sbx_facts *f)
{
	struct kern_facts *out = &k->facts;

	out->lsm = f->lsm;
	out->exit_hook_kills = f->exit_hook_kills;
	out->hook_copies = f->hook_copies;
	snprintf(out->files_detail, sizeof(out->files_detail), "%s",
		 f->files == SBX_FAILS ? f->files_detail : "");
	snprintf(out->net_detail, sizeof(out->net_detail), "%s",
		 f->net == SBX_FAILS ? f->net_detail : "");
	snprintf(out->lsm_detail, sizeof(out->lsm_detail), "%s", f->lsm_detail);
	snprintf(out->exit_hook_detail, sizeof(out->exit_hook_detail), "%s", f->exit_hook_detail);
	snprintf(out->build_id, sizeof(out->build_id), "%s", f->build_id);
}

/* -ENOENT: nothing is loaded. -ESTALE: an unload was killed on its way. */
static int reuse(struct kern *k, const struct pins *pins)
{
	static const enum half_pin first[] = { HALF_FACTS, HALF_SANDBOXES, HALF_CREATE,
					       HALF_CONTROL };
	struct sbx_facts f;
	__u32 zero = 0;

	close_fds(k);
	snprintf(k->dir, sizeof(k->dir), "%s", pins->dir);
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		int fd = half_fd(k, first[i]);

		if (fd < 0)
			return fd;
	}
	if (bpf_map_lookup_elem(k->fds[HALF_FACTS], &zero, &f))
		return -errno;
	if (f.gone)
		return -ESTALE;
	take_facts(k, &f);
	snprintf(k->facts.pin_dir, sizeof(k->facts.pin_dir), "%s", pins->dir);
	return 0;
}

/* Anything else (out of descriptors, of memory) says nothing about the pins, which others may
 * live by. */
static bool none_loaded(int rc)
{
	return rc == -ENOENT || rc == -ESTALE;
}

static int cannot_open(const struct pins *pins, int rc, struct err *err)
{
	return err_set(err, rc, "open the pins in '%s'", pins->dir);
}

/* Between the two locks another start may have loaded: look again. */
static int load(struct kern *k, struct pins *pins, struct err *err)
{
	int rc = pins_lock_exclusive(pins, err);

	if (rc)
		return rc;
	rc = reuse(k, pins);
	if (!none_loaded(rc))
		return rc ? cannot_open(pins, rc, err) : 0;
	loader_sweep(pins);
	rc = pins_remove(pins->dir);
	if (rc)
		return err_set(err, rc, "remove what is left of '%s'", pins->dir);
	rc = loader_load(pins, err);
	if (rc)
		return rc;
	k->facts.loaded_now = true;
	rc = reuse(k, pins);
	return rc ? cannot_open(pins, rc, err) : 0;
}

static int open_half(struct kern *k, struct err *err)
{
	struct pins pins;
	int rc = pins_open(&pins, false, err);

	if (rc)
		return rc;
	rc = reuse(k, &pins);
	if (rc == -EPERM || rc == -EACCES)
		err_say(err, ERR_PERMISSION, rc,
			"the kernel refuses to open the pins in '%s': run as root with CAP_BPF and "
			"CAP_SYS_ADMIN",
			pins.dir);
	else if (none_loaded(rc))
		rc = load(k, &pins, err);
	else if (rc)
		cannot_open(&pins, rc, err);
	pins_close(&pins);
	return rc;
}

/* The same without a load: who looks on changes nothing. */
static int look_half(struct kern *k, struct err *err)
{
	struct pins pins;
	int rc = pins_open(&pins, false, err);

	if (rc)
		return rc;
	rc = reuse(k, &pins);
	if (none_loaded(rc))
		err_say(err, ERR_NOT_FOUND, rc, "no kernel half of this build is loaded");
	else if (rc)
		cannot_open(&pins, rc, err);
	pins_close(&pins);
	return rc;
}

static int open_by(struct kern **out, int (*open)(struct kern *k, struct err *err), struct err *err)
{
	struct kern *k = calloc(1, sizeof(*k));
	int rc;

	*out = NULL;
	if (!k)
		return err_set(err, -ENOMEM, "open the kernel half");
	object_hush();
	for (int i = 0; i < HALF_PINS; i++)
		k->fds[i] = -1;
	rc = open(k, err);
	if (rc) {
		kern_close(k);
		return rc;
	}
	*out = k;
	return 0;
}

int kern_open(struct kern **out, struct err *err)
{
	return open_by(out, open_half, err);
}

int kern_look(struct kern **out, struct err *err)
{
	return open_by(out, look_half, err);
}

void kern_close(struct kern *k)
{
	if (!k)
		return;
	close_fds(k);
	free(k);
}

const struct kern_facts *kern_facts(const struct kern *k)
{
	return &k->facts;
}

int kern_unload(struct err *err)
{
	struct pins pins;
	int rc = pins_open(&pins, true, err);

	if (rc)
		return rc;
	rc = loader_unload(&pins, err);
	if (!rc)
		pins_vanish(&pins);
	pins_close(&pins);
	return rc;
}

int kern_reopen(struct kern *k, struct err *err)
{
	return open_half(k, err);
}

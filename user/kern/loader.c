/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/loader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/own.h"
#include "build_id.h"
#include "kern/half.h"
#include "kern/object.h"
#include "kern/probe_bpf.h"
#include "kern/rings.h"
#include "sbx.skel.h"

#define COPIES 3 /* of a tracepoint hook, where one may be skipped (probe_skip.c) */

enum { WHEN_ALWAYS, WHEN_LSM, WHEN_KILL, WHEN_PROBING };

/* Every program that is attached, in this order: the exit hook that kills comes after those
 * that mark. */
static const struct hook {
	const char *name;
	int copy; /* 0: the only one */
	int when;
} hooks[] = {
	{ "probe_spin", 0, WHEN_PROBING },  { "track_fork_1", 1, WHEN_ALWAYS },
	{ "track_fork_2", 2, WHEN_ALWAYS }, { "track_fork_3", 3, WHEN_ALWAYS },
	{ "track_exec_1", 1, WHEN_ALWAYS }, { "track_exec_2", 2, WHEN_ALWAYS },
	{ "track_exec_3", 3, WHEN_ALWAYS }, { "track_exit_1", 1, WHEN_ALWAYS },
	{ "track_exit_2", 2, WHEN_ALWAYS }, { "track_exit_3", 3, WHEN_ALWAYS },
	{ "kill_exit_1", 1, WHEN_KILL },    { "kill_exit_2", 2, WHEN_KILL },
	{ "kill_exit_3", 3, WHEN_KILL },    { "track_task_alloc", 0, WHEN_LSM },
	{ "track_task_free", 0, WHEN_LSM }, { "track_bprm_check", 0, WHEN_LSM },
};
#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* SBX_DEGRADE=copies,lsm,exit-hook does as if this kernel were a worse one: tests force the
 * fallbacks with it. */
static bool degraded(const char *what, char detail[SBX_DETAIL])
{
	const char *list = secure_getenv("SBX_DEGRADE");

	if (!list || !strstr(list, what))
		return false;
	snprintf(detail, SBX_DETAIL, "switched off by SBX_DEGRADE=%s", list);
	return true;
}

struct loading {
	struct sbx_bpf *skel;
	struct bpf_link *links[HOOKS];
	struct probe_types types;
	struct sbx_facts facts;
	char dir[PINS_PATH + 8]; /* renamed when complete; bpffs admits no dot in a name */
};

static bool wanted(const struct loading *l, const struct hook *h)
{
	if (h->copy > (int)l->facts.hook_copies)
		return false;
	switch (h->when) {
	case WHEN_LSM:
		return l->types.lsm;
	case WHEN_KILL:
		return l->types.signal_task && l->types.task_iter;
	}
	return h->when == WHEN_ALWAYS;
}

static struct bpf_program *program_of(const struct loading *l, const struct hook *h)
{
	return bpf_object__find_program_by_name(l->skel->obj, h->name);
}

static int open_object(struct loading *l, struct err *err)
{
	l->skel = sbx_bpf__open();
	return l->skel ? 0 : err_set(err, -errno, "open the kernel half");
}

static int load_error(struct err *err, int rc)
{
	return err_say(err, rc == -EPERM ? ERR_PERMISSION : ERR_INTERNAL, rc,
		       "load the kernel half: %s (SBX_BPF_LOG=1 shows what the kernel says)",
		       strerror(-rc));
}

/* probe_spin alone, of a copy of the object: how many copies of the others to load depends on
 * it. */
static int find_copies(struct loading *l, struct err *err)
{
	struct bpf_program *p, *spin;
	struct bpf_link *link;
	struct bpf_map *m;
	char why[SBX_DETAIL];
	int rc = open_object(l, err);

	if (rc)
		return rc;
	spin = program_of(l, &hooks[0]);
	bpf_object__for_each_program(p, l->skel->obj) bpf_program__set_autoload(p, p == spin);
	bpf_object__for_each_map(m, l->skel->obj)
		bpf_map__set_autocreate(m, bpf_map__is_internal(m));
	rc = sbx_bpf__load(l->skel);
	link = rc ? NULL : bpf_program__attach(spin);
	if (link)
		l->facts.hook_copies =
			probe_hooks_skipped(bpf_program__fd(spin)) || degraded("copies", why)
				? COPIES
				: 1;
	else
		rc = load_error(err, rc ? rc : -errno);
	bpf_link__destroy(link);
	sbx_bpf__destroy(l->skel);
	l->skel = NULL;
	return rc;
}

/* What comes with the first file or network policy (files_load.c, report_load.c, net_load.c). */
static void leave_policies(struct bpf_object *obj)
{
	static const char *const prefixes[] = { "fs_", "report_", "net_" };
	struct bpf_program *p;
	struct bpf_map *m;

	bpf_object__for_each_program(p, obj)
	{
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
			if (!strncmp(bpf_program__name(p), prefixes[i], strlen(prefixes[i])))
				bpf_program__set_autoload(p, false);
	}
	for (int i = HALF_FIRST; i < HALF_PINS; i++) {
		m = bpf_object__find_map_by_name(obj, half_pin_names[i]);
		if (m)
			bpf_map__set_autocreate(m, false);
	}
	bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, "report_links"), false);
	bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, "net_socks"), false);
}

static int load_object(struct loading *l, struct err *err)
{
	int rc = open_object(l, err);

	if (rc)
		return rc;
	l->skel->rodata->exit_tells_group_dead = l->types.group_dead;
	l->skel->rodata->exit_may_be_missed = l->facts.hook_copies > 1;
	l->skel->rodata->can_signal_child = l->types.signal_task;
	for (size_t i = 0; i < HOOKS; i++)
		bpf_program__set_autoload(program_of(l, &hooks[i]), wanted(l, &hooks[i]));
	leave_policies(l->skel->obj);
	rc = sbx_bpf__load(l->skel);
	if (rc)
		return load_error(err, rc);
	rc = rings_prefill(bpf_map__fd(l->skel->maps.rings), bpf_map__fd(l->skel->maps.ring_slots));
	return rc ? err_set(err, rc, "make ring buffers") : 0;
}

static int attach_hooks(struct loading *l, struct err *err)
{
	for (size_t i = 0; i < HOOKS; i++) {
		if (!wanted(l, &hooks[i]))
			continue;
		l->links[i] = bpf_program__attach(program_of(l, &hooks[i]));
		if (!l->links[i])
			return err_set(err, -errno, "attach %s", hooks[i].name);
	}
	return 0;
}

static void detach_hooks(struct loading *l, int when)
{
	for (size_t i = 0; i < HOOKS; i++) {
		if (hooks[i].when != when)
			continue;
		bpf_link__destroy(l->links[i]);
		l->links[i] = NULL;
	}
}

/* What attached is only there when it does its work. */
static void try_hooks(struct loading *l)
{
	const struct probe_half half = {
		.create_fd = bpf_program__fd(l->skel->progs.sandbox_create),
		.control_fd = bpf_program__fd(l->skel->progs.sandbox_control),
		.sandboxes_fd = bpf_map__fd(l->skel->maps.sandboxes),
	};
	struct sbx_facts *f = &l->facts;

	if (!l->types.lsm)
		memcpy(f->lsm_detail, l->types.lsm_detail, sizeof(f->lsm_detail));
	else if (!degraded("lsm", f->lsm_detail))
		f->lsm = probe_lsm_refuses(&half, f->lsm_detail);
	if (!f->lsm)
		detach_hooks(l, WHEN_LSM);

	if (!l->types.signal_task || !l->types.task_iter)
		snprintf(f->exit_hook_detail, sizeof(f->exit_hook_detail),
			 "the kernel has no bpf_send_signal_task() (before 6.13)");
	else if (!degraded("exit-hook", f->exit_hook_detail))
		f->exit_hook_kills = probe_exit_kills(&half, f->exit_hook_detail);
	if (!f->exit_hook_kills)
		detach_hooks(l, WHEN_KILL);
}

static int pin_fd(const struct loading *l, int fd, const char *prefix, const char *name,
		  struct err *err)
{
	char path[PINS_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s%s", l->dir, prefix, name);
	return bpf_obj_pin(fd, path) ? err_set(err, -errno, "pin '%s'", path) : 0;
}

static int pin_all(const struct loading *l, struct err *err)
{
	const struct bpf_map *map;
	const struct bpf_program *prog;
	int rc = 0;

	for (size_t i = 0; i < HOOKS && !rc; i++)
		if (l->links[i])
			rc = pin_fd(l, bpf_link__fd(l->links[i]), "link_", hooks[i].name, err);
	for (int i = 0; i < HALF_FIRST && !rc; i++) {
		map = bpf_object__find_map_by_name(l->skel->obj, half_pin_names[i]);
		prog = map ? NULL
			   : bpf_object__find_program_by_name(l->skel->obj, half_pin_names[i]);
		rc = pin_fd(l, map ? bpf_map__fd(map) : bpf_program__fd(prog), "",
			    half_pin_names[i], err);
	}
	return rc;
}

static int put_facts(const struct loading *l, struct err *err)
{
	__u32 zero = 0;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.facts), &zero, &l->facts, BPF_ANY)
		       ? err_set(err, -errno, "record what this kernel can do")
		       : 0;
}

static int load_and_pin(struct loading *l, const struct pins *pins, struct err *err)
{
	int rc = probe_types(&l->types, err);

	if (!rc)
		rc = find_copies(l, err);
	if (!rc)
		rc = load_object(l, err);
	if (!rc)
		rc = attach_hooks(l, err);
	if (rc)
		return rc;
	try_hooks(l);
	rc = put_facts(l, err);
	if (!rc)
		rc = io_mkdir_p(l->dir, 0700, err);
	if (!rc)
		rc = pin_all(l, err);
	if (!rc && rename(l->dir, pins->dir))
		rc = err_set(err, -errno, "rename '%s'", l->dir);
	return rc;
}

int loader_load(const struct pins *pins, struct err *err)
{
	struct loading l = { 0 };
	int rc;

	snprintf(l.dir, sizeof(l.dir), "%s_new", pins->dir);
	snprintf(l.facts.build_id, sizeof(l.facts.build_id), "%s", SBX_BUILD_ID);
	pins_remove(l.dir);
	rc = load_and_pin(&l, pins, err);
	if (rc)
		pins_remove(l.dir);
	for (size_t i = 0; i < HOOKS; i++)
		bpf_link__destroy(l.links[i]);
	sbx_bpf__destroy(l.skel);
	return rc;
}

/* ---- removal -------------------------------------------------------------------------------- */

static int sweep_one(void *arg, const char *dir)
{
	bool live = true;

	if (strcmp(dir, arg) && !half_retire(dir, &live) && !live)
		pins_remove(dir);
	return 0;
}

void loader_sweep(const struct pins *pins)
{
	char own[PINS_PATH];

	snprintf(own, sizeof(own), "%s", pins->dir);
	pins_each(pins, sweep_one, own);
}

struct unload {
	int (*look)(const char *dir, bool *live);
	bool remove;
	char busy[PINS_PATH];
	int rc;
};

static int unload_one(void *arg, const char *dir)
{
	struct unload *u = arg;
	bool live = false;

	u->rc = u->look(dir, &live);
	if (!u->rc && live)
		snprintf(u->busy, sizeof(u->busy), "%s", dir);
	else if (!u->rc && u->remove)
		u->rc = pins_remove(dir);
	return u->rc || live;
}

/* Looks at all before it touches one. Who starts in between is found by the second look, and
 * keeps its half. */
int loader_unload(const struct pins *pins, struct err *err)
{
	struct unload look = { .look = half_lives },
		      removal = { .look = half_retire, .remove = true };
	struct unload *u = &look;
	int rc = pins_each(pins, unload_one, u);

	if (!rc) {
		u = &removal;
		rc = pins_each(pins, unload_one, u);
	}
	if (*u->busy)
		return err_say(err, ERR_BUSY, -EBUSY,
			       "sandboxes are alive (in '%s'): sbxctl ps shows them, sbxctl kill "
			       "ends them",
			       u->busy);
	if (u->rc || rc < 0)
		return err_set(err, u->rc ? u->rc : rc, "unload from '%s'", pins->root);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/net_load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"
#include "kern/object.h"
#include "kern/net.h"
#include "kern/pins.h"
#include "sbx.skel.h"

enum where { ON_ROOT, BY_LSM, ON_GROUP };

/* Every network hook, and where it is attached; those on a run's own group by kern_net_publish. */
static const struct hook {
	const char *name;
	enum where where;
} hooks[] = {
	{ "net_group_sock_create", ON_ROOT }, { "net_group_connect4", ON_ROOT },
	{ "net_group_connect6", ON_ROOT },    { "net_group_sendmsg4", ON_ROOT },
	{ "net_group_sendmsg6", ON_ROOT },    { "net_group_bind4", ON_ROOT },
	{ "net_group_bind6", ON_ROOT },	      { "net_group_setsockopt", ON_ROOT },
	{ "net_group_egress", ON_GROUP },     { "net_group_ingress", ON_GROUP },
	{ "net_lsm_create", BY_LSM },	      { "net_lsm_post_create", BY_LSM },
	{ "net_lsm_connect", BY_LSM },	      { "net_lsm_listen", BY_LSM },
	{ "net_lsm_sendmsg", BY_LSM },	      { "net_lsm_setsockopt", BY_LSM },
	{ "net_lsm_unix_connect", BY_LSM },   { "net_lsm_unix_send", BY_LSM },
};
#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* Maps of the half that the hooks share. */
static const enum half_pin shared[] = { HALF_DENIALS, HALF_NET_LIVE };

struct loading {
	struct kern *k;
	bool lsm;
	struct sbx_bpf *skel;
	struct bpf_link *links[HOOKS];
};

static struct bpf_program *program_of(const struct loading *l, const char *name)
{
	return bpf_object__find_program_by_name(l->skel->obj, name);
}

static bool wanted(const struct loading *l, const struct hook *h)
{
	return h->where != BY_LSM || l->lsm;
}

/* ---- load ----------------------------------------------------------------------------------- */

static int choose_programs(struct loading *l)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_program *p;

	if (!btf)
		return -errno;
	bpf_object__for_each_program(p, l->skel->obj) bpf_program__set_autoload(p, false);
	for (size_t i = 0; i < HOOKS; i++)
		bpf_program__set_autoload(program_of(l, hooks[i].name), wanted(l, &hooks[i]));
	l->skel->rodata->can_cast =
		btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return 0;
}

static int share_maps(struct loading *l)
{
	int rc = object_share_maps(l->skel->obj, l->k, shared, sizeof(shared) / sizeof(shared[0]));

	for (int i = HALF_NET_RULES; i < HALF_NET_EGRESS; i++)
		bpf_map__set_autocreate(bpf_object__find_map_by_name(l->skel->obj,
								     half_pin_names[i]),
					true);
	bpf_map__set_autocreate(l->skel->maps.net_socks, true);
	return rc;
}

static int load(struct loading *l)
{
	int rc;

	l->skel = sbx_bpf__open();
	if (!l->skel)
		return -errno;
	rc = choose_programs(l);
	if (!rc)
		rc = share_maps(l);
	return rc ? rc : sbx_bpf__load(l->skel);
}

/* The root of the v2 hierarchy, as far up as it can be seen. */
static int open_root(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char line[4096];
	struct mntent mount;
	int fd = -ENOENT;

	while (mounts && getmntent_r(mounts, &mount, line, sizeof(line))) {
		struct stat st;

		if (strcmp(mount.mnt_type, "cgroup2") != 0 || stat(mount.mnt_dir, &st))
			continue;
		if (fd >= 0 && st.st_ino != 1) /* the hierarchy's own root has the number 1 */
			continue;
		own_close_fd(&fd);
		fd = open(mount.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	if (mounts)
		endmntent(mounts);
	return fd;
}

static int attach(struct loading *l)
{
	own_fd root = open_root();

	if (root < 0)
		return root;
	for (size_t i = 0; i < HOOKS; i++) {
		struct bpf_program *p = program_of(l, hooks[i].name);

		if (!bpf_program__autoload(p) || hooks[i].where == ON_GROUP)
			continue;
		l->links[i] = hooks[i].where == ON_ROOT ? bpf_program__attach_cgroup(p, root)
							: bpf_program__attach(p);
		if (!l->links[i])
			return -errno;
	}
	return 0;
}

/* ---- pins ----------------------------------------------------------------------------------- */

static int pin_all(const struct loading *l)
{
	int rc = 0;

	for (size_t i = 0; i < HOOKS && !rc; i++)
		if (l->links[i])
			rc = object_pin(l->k, bpf_link__fd(l->links[i]), "link_", hooks[i].name);
	for (int i = HALF_NET_RULES; i < HALF_PINS && !rc; i++) {
		const char *name = half_pin_names[i];
		const struct bpf_map *m = bpf_object__find_map_by_name(l->skel->obj, name);

		rc = object_pin(l->k, m ? bpf_map__fd(m) : bpf_program__fd(program_of(l, name)), "",
				name);
	}
	return rc;
}

/* The last one first: without it the rest are leftovers. */
static void unpin_all(const struct loading *l)
{
	for (int i = HALF_PINS - 1; i >= HALF_NET_RULES; i--)
		object_unpin(l->k, "", half_pin_names[i]);
	for (size_t i = 0; i < HOOKS; i++)
		object_unpin(l->k, "link_", hooks[i].name);
}

/* ---- all of it ------------------------------------------------------------------------------ */

int net_control(struct kern *k, uint64_t sandbox, uint32_t what, uint64_t generation,
		uint64_t space)
{
	struct sbx_control c = {
		.sandbox = sandbox, .what = what, .key = generation, .start_ns = space
	};
	int fd = half_fd(k, HALF_CONTROL);
	int rc = fd < 0 ? fd : half_run(fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

/* What the kernel refuses it refuses the next time as well: it is remembered. */
static int load_and_try(struct loading *l, struct sbx_facts *f)
{
	int rc = load(l);

	/* The groups' hooks hold by themselves what they see; the rest is as on tier B. */
	if (rc && l->lsm) {
		sbx_bpf__destroy(take_ptr(&l->skel));
		l->lsm = false;
		rc = load(l);
	}
	if (!rc)
		rc = attach(l);
	if (rc)
		snprintf(f->net_detail, sizeof(f->net_detail),
			 "load the network hooks: %s (SBX_BPF_LOG=1 shows what the kernel says)",
			 strerror(-rc));
	else if (!net_try(l->k, f->net_detail))
		rc = -EOPNOTSUPP;
	return rc;
}

static int load_and_pin(struct kern *k, struct err *err)
{
	struct loading l = { .k = k, .lsm = k->facts.lsm };
	struct sbx_facts f;
	int rc = object_facts(k, &f);

	if (!rc && f.gone)
		rc = -ESTALE;
	if (rc)
		return err_set(err, rc, "read the facts of the kernel half");
	rc = load_and_try(&l, &f);
	f.net = rc ? SBX_FAILS : l.lsm == k->facts.lsm ? SBX_WORKS : SBX_IN_PART;
	if (rc) {
		rc = err_say(err, ERR_CANNOT_ENFORCE, -EOPNOTSUPP, "%s", f.net_detail);
	} else {
		rc = pin_all(&l);
		if (rc)
			unpin_all(&l);
		if (rc)
			err_set(err, rc, "pin the network hooks in '%s'", k->dir);
	}
	if (!rc || rc == -EOPNOTSUPP)
		object_put_facts(k, &f);
	for (size_t i = 0; i < HOOKS; i++)
		bpf_link__destroy(l.links[i]);
	sbx_bpf__destroy(l.skel);
	return rc;
}

/* Between the two locks another start may have loaded them. */
int net_load(struct kern *k, struct err *err)
{
	struct pins pins;
	int rc = pins_open(&pins, true, err);

	if (rc)
		return rc;
	if (half_fd(k, HALF_NET_INGRESS) >= 0) {
		pins_close(&pins);
		return 0;
	}
	rc = load_and_pin(k, err);
	pins_close(&pins);
	return rc;
}

bool kern_net_available(struct kern *k, const char **why)
{
	struct kern_facts *facts = &k->facts;
	struct err err = { .text = "" };

	*why = facts->net_detail;
	if (half_fd(k, HALF_NET_INGRESS) >= 0)
		return true;
	if (*facts->net_detail)
		return false;
	if (!net_load(k, &err))
		return true;
	snprintf(facts->net_detail, sizeof(facts->net_detail), "%.127s", err.text);
	return false;
}

bool kern_net_lsm(struct kern *k)
{
	struct sbx_facts f;

	return k->facts.lsm && !object_facts(k, &f) && f.net == SBX_WORKS;
}

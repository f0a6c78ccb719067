/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/part.h"

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
#include "kern/pins.h"
#include "sbx.skel.h"

static struct bpf_program *program_of(const struct part_loading *l, const char *name)
{
	return bpf_object__find_program_by_name(l->skel->obj, name);
}

static struct bpf_map *map_of(const struct part_loading *l, const char *name)
{
	return bpf_object__find_map_by_name(l->skel->obj, name);
}

/* ---- load ----------------------------------------------------------------------------------- */

/* Number of arguments of a hook, -1 where the kernel has none of that name. */
static int arguments_of(const struct btf *btf, const char *hook)
{
	char name[64];
	const struct btf_type *t;
	int id;

	snprintf(name, sizeof(name), "bpf_lsm_%s", hook);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) : -1;
}

static bool wanted(const struct part_loading *l, const struct btf *btf, const struct part_hook *h)
{
	int arguments;

	if (h->where != PART_BY_LSM)
		return true;
	if (!l->lsm || !h->lsm_hook)
		return l->lsm;
	arguments = arguments_of(btf, h->lsm_hook);
	if (arguments < 0)
		return !h->optional; /* its load says what is missing */
	return !h->arguments || h->arguments == (unsigned int)arguments;
}

static int choose_programs(struct part_loading *l)
{
	const struct part *part = l->part;
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_program *p;

	if (!btf)
		return -errno;
	bpf_object__for_each_program(p, l->skel->obj) bpf_program__set_autoload(p, false);
	for (size_t i = 0; i < part->hook_count; i++)
		bpf_program__set_autoload(program_of(l, part->hooks[i].program),
					  wanted(l, btf, &part->hooks[i]));
	for (enum half_pin pin = part->first; pin < part->end; pin++)
		if ((p = program_of(l, half_pin_names[pin])))
			bpf_program__set_autoload(p, true);
	l->skel->rodata->can_cast =
		btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return 0;
}

static int choose_maps(struct part_loading *l)
{
	const struct part *part = l->part;
	int rc = object_share_maps(l->skel->obj, l->k, part->shared,
				   sizeof(part->shared) / sizeof(part->shared[0]));

	for (enum half_pin pin = part->first; pin < part->end; pin++)
		if (map_of(l, half_pin_names[pin]))
			bpf_map__set_autocreate(map_of(l, half_pin_names[pin]), true);
	if (part->map)
		bpf_map__set_autocreate(map_of(l, part->map), true);
	return rc;
}

static int load(struct part_loading *l)
{
	int rc;

	l->skel = sbx_bpf__open();
	if (!l->skel)
		return -errno;
	rc = choose_programs(l);
	if (!rc)
		rc = choose_maps(l);
	return rc ? rc : sbx_bpf__load(l->skel);
}

/* ---- attach --------------------------------------------------------------------------------- */

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

static int attach_one(struct part_loading *l, size_t i)
{
	const struct part_hook *h = &l->part->hooks[i];
	struct bpf_program *p = program_of(l, h->program);
	own_fd root = -1;

	if (!bpf_program__autoload(p) || h->where == PART_ON_GROUP)
		return 0;
	if (h->where == PART_ON_ROOT) {
		root = open_root();
		if (root < 0)
			return root;
	}
	l->links[i] = root < 0 ? bpf_program__attach(p) : bpf_program__attach_cgroup(p, root);
	return l->links[i] ? 0 : -errno;
}

static int attach(struct part_loading *l)
{
	int rc = 0;

	for (size_t i = 0; i < l->part->hook_count && !rc; i++)
		rc = attach_one(l, i);
	return rc;
}

/* ---- pins ----------------------------------------------------------------------------------- */

static int pin_all(const struct part_loading *l)
{
	const struct part *part = l->part;
	int rc = 0;

	for (size_t i = 0; i < part->hook_count && !rc; i++)
		if (l->links[i])
			rc = object_pin(l->k, bpf_link__fd(l->links[i]), "link_",
					part->hooks[i].program);
	for (enum half_pin pin = part->first; pin < part->end && !rc; pin++) {
		const char *name = half_pin_names[pin];
		const struct bpf_map *m = map_of(l, name);

		rc = object_pin(l->k, m ? bpf_map__fd(m) : bpf_program__fd(program_of(l, name)), "",
				name);
	}
	return rc;
}

/* The last one first: without it the rest are leftovers. */
static void unpin_all(const struct part_loading *l)
{
	for (int pin = (int)l->part->end - 1; pin >= (int)l->part->first; pin--)
		object_unpin(l->k, "", half_pin_names[pin]);
	for (size_t i = 0; i < l->part->hook_count; i++)
		object_unpin(l->k, "link_", l->part->hooks[i].program);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int load_and_try(struct part_loading *l, char detail[SBX_DETAIL])
{
	int rc = load(l);

	/* What needs no LSM holds by itself what it sees; the rest is as on tier B. */
	if (rc && l->lsm && l->part->without_lsm) {
		sbx_bpf__destroy(take_ptr(&l->skel));
		l->lsm = false;
		rc = load(l);
	}
	if (!rc)
		rc = attach(l);
	if (rc)
		snprintf(detail, SBX_DETAIL,
			 "load the %s: %s (SBX_BPF_LOG=1 shows what the kernel says)",
			 l->part->what, strerror(-rc));
	else if (!l->part->try(l, detail))
		rc = -EOPNOTSUPP;
	return rc;
}

static int load_and_pin(const struct part *part, struct kern *k, struct err *err)
{
	struct part_loading l = { .part = part, .k = k, .lsm = k->facts.lsm };
	struct sbx_facts f;
	char *detail = (char *)&f + part->detail;
	int rc = object_facts(k, &f);

	if (!rc && f.gone)
		rc = -ESTALE;
	if (rc)
		return err_set(err, rc, "read the facts of the kernel half");
	rc = load_and_try(&l, detail);
	*(__u32 *)((char *)&f + part->state) = rc		       ? SBX_FAILS
					       : l.lsm == k->facts.lsm ? SBX_WORKS
								       : SBX_IN_PART;
	if (rc) {
		rc = err_say(err, ERR_CANNOT_ENFORCE, -EOPNOTSUPP, "%s", detail);
	} else {
		rc = pin_all(&l);
		if (rc)
			unpin_all(&l);
		if (rc)
			err_set(err, rc, "pin the %s in '%s'", part->what, k->dir);
	}
	if (!rc || rc == -EOPNOTSUPP)
		object_put_facts(k, &f);
	for (size_t i = 0; i < part->hook_count; i++)
		bpf_link__destroy(l.links[i]);
	sbx_bpf__destroy(l.skel);
	return rc;
}

int part_load(const struct part *part, struct kern *k, struct err *err)
{
	struct pins pins;
	int rc = pins_open(&pins, true, err);

	if (rc)
		return rc;
	/* Between the two locks another start may have loaded it. */
	if (half_fd(k, part->end - 1) < 0)
		rc = load_and_pin(part, k, err);
	pins_close(&pins);
	return rc;
}

bool part_available(const struct part *part, struct kern *k, char detail[SBX_DETAIL])
{
	struct err err = { .text = "" };

	if (half_fd(k, part->end - 1) >= 0)
		return true;
	if (*detail)
		return false;
	if (!part_load(part, k, &err))
		return true;
	snprintf(detail, SBX_DETAIL, "%.127s", err.text);
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kern/files.h"
#include "kern/object.h"
#include "kern/pins.h"
#include "sbx.skel.h"

/* Every file hook. Those of a list are loaded where the kernel's hook has that many arguments (0: any),
 * optional ones where it exists. */
static const struct hook {
	const char *name;
	const char *hook;
	unsigned int args;
	bool optional;
} hooks[] = {
	{ "fs_file_open", "file_open", 0, false },
	{ "fs_file_receive", "file_receive", 0, false },
	{ "fs_bprm_check", "bprm_check_security", 0, false },
	{ "fs_mmap_file", "mmap_file", 0, false },
	{ "fs_file_mprotect", "file_mprotect", 0, false },
	{ "fs_inode_create", "inode_create", 0, false },
	{ "fs_inode_mkdir", "inode_mkdir", 0, false },
	{ "fs_inode_mknod", "inode_mknod", 0, false },
	{ "fs_inode_symlink", "inode_symlink", 0, false },
	{ "fs_inode_unlink", "inode_unlink", 0, false },
	{ "fs_inode_rmdir", "inode_rmdir", 0, false },
	{ "fs_inode_rename", "inode_rename", 0, false },
	{ "fs_inode_link", "inode_link", 0, false },
	{ "fs_inode_setattr_2", "inode_setattr", 2, false },
	{ "fs_inode_setattr_3", "inode_setattr", 3, false },
	{ "fs_inode_setxattr", "inode_setxattr", 0, false },
	{ "fs_inode_removexattr", "inode_removexattr", 0, false },
	{ "fs_inode_set_acl", "inode_set_acl", 0, true },
	{ "fs_inode_remove_acl", "inode_remove_acl", 0, true },
	{ "fs_inode_file_setattr", "inode_file_setattr", 0, true },
	{ "fs_file_ioctl", "file_ioctl", 0, false },
	{ "fs_file_ioctl_compat", "file_ioctl_compat", 0, true },
	{ "fs_sb_kern_mount", "sb_kern_mount", 0, false },
	{ "fs_uring_override_creds", "uring_override_creds", 0, false },
};
#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* Maps of the half that these hooks share. */
static const enum half_pin shared[] = { HALF_DENIALS, HALF_FS_LIVE };

struct loading {
	struct kern *k;
	struct sbx_bpf *skel;
	struct bpf_link *links[HOOKS];
};

/* Number of arguments of a hook, -1 where the kernel has none of that name. */
static int hook_args(const struct btf *btf, const char *hook)
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

static bool wanted(const struct btf *btf, const struct hook *h)
{
	int args = hook_args(btf, h->hook);

	if (args < 0)
		return !h->optional; /* its load says what is missing */
	return !h->args || h->args == (unsigned int)args;
}

static struct bpf_program *program_of(const struct loading *l, const char *name)
{
	return bpf_object__find_program_by_name(l->skel->obj, name);
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
		bpf_program__set_autoload(program_of(l, hooks[i].name), wanted(btf, &hooks[i]));
	bpf_program__set_autoload(program_of(l, half_pin_names[HALF_FS_INODES]), true);
	l->skel->rodata->can_cast =
		btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return 0;
}

static int share_maps(struct loading *l)
{
	int rc = object_share_maps(l->skel->obj, l->k, shared, sizeof(shared) / sizeof(shared[0]));

	for (int i = HALF_FIRST; i < HALF_FS_INODES; i++)
		bpf_map__set_autocreate(bpf_object__find_map_by_name(l->skel->obj,
								     half_pin_names[i]),
					true);
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

static int attach(struct loading *l)
{
	for (size_t i = 0; i < HOOKS; i++) {
		struct bpf_program *p = program_of(l, hooks[i].name);

		if (!bpf_program__autoload(p))
			continue;
		l->links[i] = bpf_program__attach(p);
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
	for (int i = HALF_FIRST; i < HALF_FS_END && !rc; i++) {
		const struct bpf_map *m =
			bpf_object__find_map_by_name(l->skel->obj, half_pin_names[i]);

		rc = object_pin(l->k,
				m ? bpf_map__fd(m)
				  : bpf_program__fd(program_of(l, half_pin_names[i])),
				"", half_pin_names[i]);
	}
	return rc;
}

/* The last one first: without it the rest are leftovers. */
static void unpin_all(const struct loading *l)
{
	for (int i = HALF_FS_END - 1; i >= HALF_FIRST; i--)
		object_unpin(l->k, "", half_pin_names[i]);
	for (size_t i = 0; i < HOOKS; i++)
		object_unpin(l->k, "link_", hooks[i].name);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool try_hooks(struct loading *l, struct sbx_facts *f)
{
	const struct files_hooks h = {
		.create_fd = half_fd(l->k, HALF_CREATE),
		.control_fd = half_fd(l->k, HALF_CONTROL),
		.objects_fd = bpf_map__fd(l->skel->maps.fs_objects),
		.inodes_fd = bpf_program__fd(l->skel->progs.fs_inodes),
	};

	return files_try(&h, f->files_detail);
}

/* What the kernel refuses it refuses the next time as well: it is remembered. */
static int load_and_try(struct loading *l, struct sbx_facts *f)
{
	int rc = load(l);

	if (!rc)
		rc = attach(l);
	if (rc)
		snprintf(f->files_detail, sizeof(f->files_detail),
			 "load the file hooks: %s (SBX_BPF_LOG=1 shows what the kernel says)",
			 strerror(-rc));
	else if (!try_hooks(l, f))
		rc = -EOPNOTSUPP;
	return rc;
}

static int load_and_pin(struct kern *k, struct err *err)
{
	struct loading l = { .k = k };
	struct sbx_facts f;
	int rc = object_facts(k, &f);

	if (!rc && f.gone)
		rc = -ESTALE;
	if (rc)
		return err_set(err, rc, "read the facts of the kernel half");
	rc = load_and_try(&l, &f);
	f.files = rc ? SBX_FAILS : SBX_WORKS;
	if (rc) {
		rc = err_say(err, ERR_CANNOT_ENFORCE, -EOPNOTSUPP, "%s", f.files_detail);
	} else {
		rc = pin_all(&l);
		if (rc)
			unpin_all(&l);
		if (rc)
			err_set(err, rc, "pin the file hooks in '%s'", k->dir);
	}
	if (!rc || rc == -EOPNOTSUPP)
		object_put_facts(k, &f);
	for (size_t i = 0; i < HOOKS; i++)
		bpf_link__destroy(l.links[i]);
	sbx_bpf__destroy(l.skel);
	return rc;
}

/* Between the two locks another start may have loaded them. */
int files_load(struct kern *k, struct err *err)
{
	struct pins pins;
	int rc = pins_open(&pins, true, err);

	if (rc)
		return rc;
	if (half_fd(k, HALF_FS_INODES) >= 0) {
		pins_close(&pins);
		return 0;
	}
	rc = load_and_pin(k, err);
	pins_close(&pins);
	return rc;
}

bool files_available(struct kern *k, const char **why)
{
	struct kern_facts *facts = &k->facts;
	struct err err = { .text = "" };

	*why = facts->lsm ? facts->files_detail : facts->lsm_detail;
	if (!facts->lsm)
		return false;
	if (half_fd(k, HALF_FS_INODES) >= 0)
		return true;
	if (*facts->files_detail)
		return false;
	if (!files_load(k, &err))
		return true;
	snprintf(facts->files_detail, sizeof(facts->files_detail), "%.127s", err.text);
	return false;
}

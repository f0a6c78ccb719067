/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files_load.h"

#include <bpf/libbpf.h>
#include <stddef.h>

#include "kern/files.h"
#include "kern/part.h"
#include "sbx.skel.h"

#define HOOK(name)                                                              \
	{                                                                       \
		.program = "fs_" #name, .where = PART_BY_LSM, .lsm_hook = #name \
	}
#define HOOK_IF_THERE(name)                                                                       \
	{                                                                                         \
		.program = "fs_" #name, .where = PART_BY_LSM, .lsm_hook = #name, .optional = true \
	}
#define HOOK_OF(name, count)                                                                \
	{                                                                                   \
		.program = "fs_" #name "_" #count, .where = PART_BY_LSM, .lsm_hook = #name, \
		.arguments = (count)                                                        \
	}

static const struct part_hook hooks[] = {
	HOOK(file_open),
	HOOK(file_receive),
	{ .program = "fs_bprm_check", .where = PART_BY_LSM, .lsm_hook = "bprm_check_security" },
	HOOK(mmap_file),
	HOOK(file_mprotect),
	HOOK(inode_create),
	HOOK(inode_mkdir),
	HOOK(inode_mknod),
	HOOK(inode_symlink),
	HOOK(inode_unlink),
	HOOK(inode_rmdir),
	HOOK(inode_rename),
	HOOK(inode_link),
	HOOK_OF(inode_setattr, 2),
	HOOK_OF(inode_setattr, 3),
	HOOK(inode_setxattr),
	HOOK(inode_removexattr),
	HOOK_IF_THERE(inode_set_acl),
	HOOK_IF_THERE(inode_remove_acl),
	HOOK_IF_THERE(inode_file_setattr),
	HOOK(file_ioctl),
	HOOK_IF_THERE(file_ioctl_compat),
	HOOK(sb_kern_mount),
	HOOK(uring_override_creds),
};

static bool try_hooks(struct part_loading *l, char detail[SBX_DETAIL])
{
	const struct files_hooks h = {
		.create_fd = half_fd(l->k, HALF_CREATE),
		.control_fd = half_fd(l->k, HALF_CONTROL),
		.objects_fd = bpf_map__fd(l->skel->maps.fs_objects),
		.filter_fd = bpf_map__fd(l->skel->maps.fs_filter),
		.inodes_fd = bpf_program__fd(l->skel->progs.fs_inodes),
	};

	return files_try(&h, detail);
}

static const struct part files_part = {
	.what = "file hooks",
	.hooks = hooks,
	.hook_count = sizeof(hooks) / sizeof(hooks[0]),
	.first = HALF_FIRST,
	.end = HALF_FS_END,
	.shared = { HALF_DENIALS, HALF_FS_LIVE },
	.state = offsetof(struct sbx_facts, files),
	.detail = offsetof(struct sbx_facts, files_detail),
	.try = try_hooks,
};

bool files_available(struct kern *k, const char **why)
{
	struct kern_facts *facts = &k->facts;

	*why = facts->lsm ? facts->files_detail : facts->lsm_detail;
	return facts->lsm && part_available(&files_part, k, facts->files_detail);
}

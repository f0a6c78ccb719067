// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * fs: file policies.
 *
 * Hooks and duties (all lsm/, all may refuse)
 *   file_open, file_receive             rights of a descriptor, when it is made and when it arrives
 *   bprm_check_security, mmap_file, file_mprotect   execute
 *   inode_create mkdir mknod symlink    a name is made
 *   inode_unlink rmdir                  a name goes
 *   inode_rename link                   judged at both ends
 *   inode_setattr setxattr removexattr set_acl remove_acl file_setattr, file_ioctl   metadata
 *   sb_kern_mount, uring_override_creds  what would blind the rest
 *   iter/task_file fs_inodes            the inodes behind the asking process's own descriptors
 *
 * Theory of operation
 *
 * A policy is rows of objects and of names (sbx/files.h). An object is an inode's address, which is
 * the same through every path, mount, namespace and link, and stays while a descriptor of the
 * keeper or of its watcher pins it. For each act the dentry at hand is walked up (fs_walk.bpf.h), and the nearest row
 * decides. No path is read and no string is built for a verdict, so no path trick changes one.
 *
 * An object is where its dentry is: who may not write a directory cannot move what is in it. Moving
 * between places with rules of their own may only lose rights (rename and link), and a directory
 * with a narrower rule below it stays where it is (SBX_FS_PINNED), or its path could be built anew
 * without the rule. What is deleted and made again, or does not exist yet, is held by its name in
 * its directory.
 *
 * The walk ends at the root of a file system, not of a mount; user space gives a rule to the root
 * of each one that is mounted. One without a rule, mounted later or elsewhere, is refused, but for
 * kinds that hold nothing (rights_by_kind).
 *
 * Reached bounds, a missing sandbox row, a row of another inode at the same address, and the death
 * of whoever pins the objects refuse. Denials are counted after the verdict (denial.bpf.h).
 *
 * Loaded and attached when the first policy is published; a task without one pays a look-up.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "fs_ask.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* linux/fs.h */
enum { FMODE_READ = 0x1, FMODE_WRITE = 0x2, FMODE_PATH = 0x4000 };
#define FMODE_NOACCOUNT 0x20000000 /* opened by the kernel inside another open (overlayfs) */
#define FMODE_EXEC_FLAG 0x20	   /* __FMODE_EXEC, in f_flags */
enum { ATTR_SIZE = 1 << 3 };
enum { S_IFMT = 0170000, S_IFCHR = 0020000, S_IFDIR = 0040000, S_IFREG = 0100000 };
enum { PROT_EXEC = 4 };
#define OVERLAYFS_SUPER_MAGIC 0x794c7630

/* null, zero, full, random, urandom, the terminal, and what makes or is a pseudo-terminal: every program
 * writes there, and nothing of the host is changed by it. */
static __always_inline bool is_basic_device(const struct inode *inode)
{
	__u32 major = inode->i_rdev >> 20, minor = inode->i_rdev & 0xfffff;

	if ((inode->i_mode & S_IFMT) != S_IFCHR)
		return false;
	if (major == 1)
		return minor == 3 || minor == 5 || (minor >= 7 && minor <= 9);
	return (major == 5 && (minor == 0 || minor == 2)) || (major >= 136 && major <= 143);
}

static __always_inline __u32 rights_of(const struct file *file)
{
	__u32 want = file->f_mode & FMODE_READ ? SBX_FS_READ : 0;
	struct dentry *d = file->f_path.dentry;

	if (file->f_mode & FMODE_WRITE)
		want |= is_basic_device(d->d_inode) ? SBX_FS_READ : SBX_FS_WRITE;
	return want;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

SEC("lsm/file_open")
int BPF_PROG(fs_file_open, struct file *file, int ret)
{
	struct dentry *d = file->f_path.dentry;
	__u64 sandbox = fs_subject();
	__u32 want;

	if (ret || !sandbox || file->f_mode & FMODE_NOACCOUNT)
		return ret;
	want = rights_of(file);
	if (file->f_flags & FMODE_EXEC_FLAG)
		want |= SBX_FS_EXEC;
	return fs_ask(sandbox, d, d, want, 0, 0);
}

/* What a descriptor made elsewhere may do is judged where it arrives. */
SEC("lsm/file_receive")
int BPF_PROG(fs_file_receive, struct file *file, int ret)
{
	if (ret || file->f_mode & FMODE_PATH)
		return ret;
	return ask_one(file->f_path.dentry, rights_of(file), SBX_ACT_RECEIVE, 0);
}

/* ---- execute -------------------------------------------------------------------------------- */

SEC("lsm/bprm_check_security")
int BPF_PROG(fs_bprm_check, struct linux_binprm *bprm, int ret)
{
	return ret ? ret : ask_one(bprm->file->f_path.dentry, SBX_FS_EXEC, 0, 0);
}

SEC("lsm/mmap_file")
int BPF_PROG(fs_mmap_file, struct file *arg, unsigned long reqprot, unsigned long prot,
	     unsigned long flags, int ret)
{
	struct file *file = plain_file(arg); /* NULL: anonymous memory */

	if (ret || !(prot & PROT_EXEC) || !file)
		return ret;
	return ask_one(file->f_path.dentry, SBX_FS_EXEC, 0, 0);
}

SEC("lsm/file_mprotect")
int BPF_PROG(fs_file_mprotect, struct vm_area_struct *vma, unsigned long reqprot,
	     unsigned long prot, int ret)
{
	struct file *file = plain_vma(vma)->vm_file;

	if (ret || !(prot & PROT_EXEC) || !file)
		return ret;
	return ask_one(file->f_path.dentry, SBX_FS_EXEC, 0,
		       file->f_mode & FMODE_NOACCOUNT ? FS_BACKED : 0);
}

/* ---- names ---------------------------------------------------------------------------------- */

SEC("lsm/inode_create")
int BPF_PROG(fs_inode_create, struct inode *dir, struct dentry *dentry, unsigned short mode,
	     int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_CREATE, FS_NAMES);
}

SEC("lsm/inode_mkdir")
int BPF_PROG(fs_inode_mkdir, struct inode *dir, struct dentry *dentry, unsigned short mode, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_CREATE, FS_NAMES);
}

SEC("lsm/inode_mknod")
int BPF_PROG(fs_inode_mknod, struct inode *dir, struct dentry *dentry, unsigned short mode,
	     unsigned int dev, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_CREATE, FS_NAMES);
}

SEC("lsm/inode_symlink")
int BPF_PROG(fs_inode_symlink, struct inode *dir, struct dentry *dentry, const char *old_name,
	     int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_CREATE, FS_NAMES);
}

SEC("lsm/inode_unlink")
int BPF_PROG(fs_inode_unlink, struct inode *dir, struct dentry *dentry, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_REMOVE, FS_LEAVES);
}

SEC("lsm/inode_rmdir")
int BPF_PROG(fs_inode_rmdir, struct inode *dir, struct dentry *dentry, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_REMOVE, FS_LEAVES);
}

/* An exchange calls this once each way. */
SEC("lsm/inode_rename")
int BPF_PROG(fs_inode_rename, struct inode *old_dir, struct dentry *old_dentry,
	     struct inode *new_dir, struct dentry *new_dentry, int ret)
{
	__u64 sandbox = fs_subject();

	if (ret || !sandbox)
		return ret;
	return fs_ask(sandbox, old_dentry, new_dentry, SBX_FS_WRITE, SBX_ACT_RENAME,
		      FS_LEAVES | FS_NAMES | FS_MOVES);
}

SEC("lsm/inode_link")
int BPF_PROG(fs_inode_link, struct dentry *old_dentry, struct inode *dir, struct dentry *new_dentry,
	     int ret)
{
	__u64 sandbox = fs_subject();

	if (ret || !sandbox)
		return ret;
	return fs_ask(sandbox, old_dentry, new_dentry, SBX_FS_READ, SBX_ACT_LINK,
		      FS_NAMES | FS_MOVES);
}

/* ---- metadata ------------------------------------------------------------------------------- */

static __always_inline int ask_setattr(struct dentry *dentry, struct iattr *attr)
{
	return ask_one(dentry, SBX_FS_WRITE,
		       attr->ia_valid & ATTR_SIZE ? SBX_ACT_TRUNCATE : SBX_ACT_METADATA, 0);
}

/* Until 6.8, then with an idmap: whichever fits is loaded. */
SEC("lsm/inode_setattr")
int BPF_PROG(fs_inode_setattr_2, struct dentry *dentry, struct iattr *attr, int ret)
{
	return ret ? ret : ask_setattr(dentry, attr);
}

SEC("lsm/inode_setattr")
int BPF_PROG(fs_inode_setattr_3, struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *attr,
	     int ret)
{
	return ret ? ret : ask_setattr(dentry, attr);
}

/* The first argument is a user_namespace until 6.2. */
SEC("lsm/inode_setxattr")
int BPF_PROG(fs_inode_setxattr, void *idmap, struct dentry *dentry, const char *name,
	     const void *value, unsigned long size, int flags, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_XATTR, 0);
}

SEC("lsm/inode_removexattr")
int BPF_PROG(fs_inode_removexattr, void *idmap, struct dentry *dentry, const char *name, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_XATTR, 0);
}

/* Before 6.2 an ACL comes as an xattr. */
SEC("?lsm/inode_set_acl")
int BPF_PROG(fs_inode_set_acl, struct mnt_idmap *idmap, struct dentry *dentry, const char *name,
	     struct posix_acl *acl, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_XATTR, 0);
}

SEC("?lsm/inode_remove_acl")
int BPF_PROG(fs_inode_remove_acl, struct mnt_idmap *idmap, struct dentry *dentry, const char *name,
	     int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_XATTR, 0);
}

/* file_setattr(2), 6.17: what the ioctls below do, without a descriptor. */
SEC("?lsm/inode_file_setattr")
int BPF_PROG(fs_inode_file_setattr, struct dentry *dentry, struct file_kattr *fa, int ret)
{
	return ret ? ret : ask_one(dentry, SBX_FS_WRITE, SBX_ACT_METADATA, 0);
}

/*
 * Requests that any descriptor admits and that change the object, or the file system it is on, are
 * of these types: 'f' and 'v' (ext4, fscrypt, fsverity), 'X' (xfs and generic), 'r' (fat), 0x94
 * (btrfs), 0xf5 (f2fs). All of them are taken to change something, but for these.
 */
static __always_inline bool only_asks(__u32 cmd)
{
	switch (cmd & 0xffff) {
	case 0x6601: /* FS_IOC_GETFLAGS */
	case 0x660b: /* FS_IOC_FIEMAP */
	case 0x6614: /* FS_IOC_GET_ENCRYPTION_PWSALT */
	case 0x6615: /* FS_IOC_GET_ENCRYPTION_POLICY */
	case 0x6616: /* FS_IOC_GET_ENCRYPTION_POLICY_EX */
	case 0x661a: /* FS_IOC_GET_ENCRYPTION_KEY_STATUS */
	case 0x661b: /* FS_IOC_GET_ENCRYPTION_NONCE */
	case 0x6686: /* FS_IOC_MEASURE_VERITY */
	case 0x6687: /* FS_IOC_READ_VERITY_METADATA */
	case 0x7601: /* FS_IOC_GETVERSION */
	case 0x581f: /* FS_IOC_FSGETXATTR */
	case 0x583b: /* FS_IOC_GETFSMAP */
	case 0x7210: /* FAT_IOCTL_GET_ATTRIBUTES */
	case 0x9411: /* BTRFS_IOC_TREE_SEARCH */
	case 0x9412: /* BTRFS_IOC_INO_LOOKUP */
	case 0x9419: /* BTRFS_IOC_SUBVOL_GETFLAGS */
	case 0x941e: /* BTRFS_IOC_DEV_INFO */
	case 0x941f: /* BTRFS_IOC_FS_INFO */
	case 0x9431: /* FS_IOC_GETFSLABEL */
	case 0x943c: /* BTRFS_IOC_GET_SUBVOL_INFO */
		return true;
	}
	return false;
}

static __always_inline bool may_change(const struct file *file, __u32 cmd)
{
	struct dentry *d = plain_dentry(file->f_path.dentry);
	__u32 kind = d->d_inode->i_mode & S_IFMT, type = cmd >> 8 & 0xff;

	if (kind != S_IFREG && kind != S_IFDIR)
		return false;
	return (type == 'f' || type == 'v' || type == 'X' || type == 'r' || type == 0x94 ||
		type == 0xf5) &&
	       !only_asks(cmd);
}

static __always_inline int ask_ioctl(const struct file *file, __u32 cmd)
{
	__u64 sandbox = fs_subject();
	struct dentry *d = file->f_path.dentry;

	return sandbox && may_change(file, cmd)
		       ? fs_ask(sandbox, d, d, SBX_FS_WRITE, SBX_ACT_IOCTL, 0)
		       : 0;
}

SEC("lsm/file_ioctl")
int BPF_PROG(fs_file_ioctl, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	return ret ? ret : ask_ioctl(file, cmd);
}

/* Kernels without it ask file_ioctl. */
SEC("?lsm/file_ioctl_compat")
int BPF_PROG(fs_file_ioctl_compat, struct file *file, unsigned int cmd, unsigned long arg, int ret)
{
	return ret ? ret : ask_ioctl(file, cmd);
}

/* ---- what would blind the rest -------------------------------------------------------------- */

/* The innermost sandbox around the current task that has a policy. */
static __always_inline struct sbx_sandbox *bound_by(void)
{
	struct sbx_sandbox *sb = sandbox_of(fs_subject());

	for (int i = 0; i < SBX_MAX_NEST && sb; i++) {
		if (sb->files_generation)
			return sb;
		sb = sandbox_of(sb->parent);
	}
	return NULL;
}

/* An overlay acts on its layers with its mounter's credentials, which for_a_mount() trusts. */
SEC("lsm/sb_kern_mount")
int BPF_PROG(fs_sb_kern_mount, struct super_block *sb, int ret)
{
	struct sbx_denial_key key = { .object = (__u64)(long)sb,
				      .rule = SBX_NO_RULE,
				      .act = SBX_ACT_MOUNT };
	struct sbx_sandbox *bound;

	if (ret || sb->s_magic != OVERLAYFS_SUPER_MAGIC)
		return ret;
	bound = bound_by();
	if (!bound)
		return 0;
	key.sandbox = bound->id;
	denial_put(&key, EACCES, SBX_DENIAL_NAMES);
	return -EACCES;
}

SEC("lsm/uring_override_creds")
int BPF_PROG(fs_uring_override_creds, const struct cred *new, int ret)
{
	return ret ? ret : bound_by() ? -EACCES : 0;
}

/* ---- inodes of a policy --------------------------------------------------------------------- */

SEC("iter/task_file")
int fs_inodes(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct sbx_fs_inode out = {};
	struct inode *inode;

	if (!ctx->task || !file)
		return 0;
	inode = plain_dentry(file->f_path.dentry)->d_inode;
	if (!inode)
		return 0;
	out.inode = (__u64)(long)inode;
	out.ino = inode->i_ino;
	out.dev = inode->i_sb->s_dev;
	out.fd = ctx->fd;
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

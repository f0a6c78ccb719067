/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of the command: looked up once, held by descriptor, executed through that descriptor.
 *
 * execveat(fd, "") would name the process after the descriptor's number (before 6.14) or after the
 * target of a symlink. So an ELF file is executed as NAME in a directory of root's, where NAME is a
 * link to /proc/self/fd/CHILD_IMAGE_FD: the inode is the one that was checked, and comm is what was
 * typed. Links are the same for every run and stay. A script's interpreter opens the path itself:
 * scripts are executed by path, and the record says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "kern/child.h"

#define LINKS_MAX 4096 /* names; then commands with a new one are executed by path */
#define LINK_BYTES 64  /* of the directory, for a name of usual length */

/* 0 and image->fd, or the errno that execvp(3) would have met here. */
static int try_path(struct child_image *image, int base, const char *dir, size_t dir_len,
		    const char *name)
{
	own_fd fd = -1;
	struct stat st;
	int n;

	n = dir_len ? snprintf(image->path, sizeof(image->path), "%.*s/%s", (int)dir_len, dir, name)
		    : snprintf(image->path, sizeof(image->path), "%s", name);
	if (n < 0 || (size_t)n >= sizeof(image->path))
		return -ENAMETOOLONG;
	fd = openat(base, image->path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
		return -EACCES;
	image->fd = take_fd(&fd);
	return 0;
}

/* Our own want, which says nothing about the command. */
static bool out_of(int rc)
{
	return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

static int search(struct child_image *image, int base, const char *path, const char *name)
{
	int rc, found = -ENOENT;
	const char *end;

	if (strchr(name, '/'))
		return try_path(image, base, NULL, 0, name);
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		rc = end == path ? try_path(image, base, ".", 1, name)
				 : try_path(image, base, path, (size_t)(end - path), name);
		if (rc == 0 || out_of(rc))
			return rc;
		if (rc == -EACCES)
			found = rc;
	}
	return found;
}

static bool is_elf(int fd)
{
	char proc[40], magic[4];
	own_fd readable = -1;

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	readable = open(proc, O_RDONLY | O_CLOEXEC);
	return readable >= 0 && read(readable, magic, sizeof(magic)) == 4 &&
	       !memcmp(magic, "\177ELF", 4);
}

/* On failure link_dir stays -1 and the command is executed by path. */
static void find_link(struct child_image *image, const char *links)
{
	char target[40];
	struct stat st;

	image->link_dir = open(links, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (image->link_dir < 0 && errno == ENOENT && mkdir(links, 0711) == 0)
		image->link_dir = open(links, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (image->link_dir < 0 ||
	    fstatat(image->link_dir, image->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	snprintf(target, sizeof(target), "/proc/self/fd/%d", CHILD_IMAGE_FD);
	if (fstat(image->link_dir, &st) < 0 || st.st_size > LINKS_MAX * LINK_BYTES ||
	    (symlinkat(target, image->link_dir, image->name) < 0 && errno != EEXIST))
		close_fd(&image->link_dir);
}

void child_image_close(struct child_image *image)
{
	close_fd(&image->fd);
	close_fd(&image->cwd_fd);
	close_fd(&image->link_dir);
}

int child_image_open(struct child_image *image, const struct spawn_opts *opts, struct err *err)
{
	const char *slash;
	int rc;

	*image = (struct child_image){ .fd = -1, .cwd_fd = -1, .link_dir = -1 };
	if (opts->chdir) {
		image->cwd_fd = open(opts->chdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (image->cwd_fd < 0)
			return err_say(err, ERR_VALIDATION, -errno, "--chdir %s: %s", opts->chdir,
				       strerror(errno));
	}
	rc = search(image, image->cwd_fd >= 0 ? image->cwd_fd : AT_FDCWD, opts->search_path,
		    opts->argv[0]);
	if (rc < 0) {
		child_image_close(image);
		if (out_of(rc))
			return err_set(err, rc, "look for %s", opts->argv[0]);
		return err_say(err, ERR_COULD_NOT_RUN, rc, "%s: %s", opts->argv[0],
			       rc == -ENOENT ? "command not found" : strerror(-rc));
	}
	slash = strrchr(image->path, '/');
	image->name = slash ? slash + 1 : image->path;
	image->elf = is_elf(image->fd);
	if (image->elf && opts->links)
		find_link(image, opts->links);
	return 0;
}

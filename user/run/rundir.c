/* SPDX-License-Identifier: Apache-2.0 */
#include "run/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/io.h"
#include "base/own.h"
#include "run/rundir_index.h"

#define TOP_DEFAULT "/run/sbx"
#define DIR_MODE 0711
#define ID_LEN 10	 /* anything else below the top is not a run */
#define PRUNE_SLACK 64	 /* directories past the bound before a start cleans up */
#define MAKING_SECONDS 2 /* between mkdir and lock */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static const char *const published[] = { "result.json", "stdout.spill", "stderr.spill" };

const char *rundir_top(void)
{
	const char *top = secure_getenv("SBX_RUN_DIR");

	return top && top[0] == '/' ? top : TOP_DEFAULT;
}

/* The top directory, made when missing; refused when somebody else could swap what is in it. */
static int open_top(struct stat *st, struct err *err)
{
	const char *top = rundir_top();
	own_fd fd = open(top, OPEN_DIR);

	if (fd < 0 && errno == ENOENT) {
		int rc = io_mkdir_p(top, DIR_MODE, err);

		if (rc)
			return rc;
		fd = open(top, OPEN_DIR);
	}
	if (fd < 0 || fstat(fd, st))
		return err_set(err, -errno, "open '%s'", top);
	if (st->st_uid != geteuid() || st->st_mode & (S_IWGRP | S_IWOTH))
		return err_say(err, ERR_PERMISSION, -EPERM,
			       "'%s' can be changed by others: make it root's, mode 0711", top);
	/* A umask, or whoever needed it first, may have made it otherwise. */
	if ((st->st_mode & 0777) != DIR_MODE && fchmod(fd, DIR_MODE))
		return err_set(err, -errno, "chmod '%s'", top);
	return take_fd(&fd);
}

int rundir_open_top(struct err *err)
{
	struct stat st;

	return open_top(&st, err);
}

/* Counting would cost a walk: most file systems keep the number of subdirectories in nlink, and one
 * start in sixteen cleans up whatever that says. */
static bool tidy_due(const struct stat *top, const char *id)
{
	return top->st_nlink > RUNDIR_KEEP_COUNT + PRUNE_SLACK || strchr("ab", id[strlen(id) - 1]);
}

static int valid_id(const char *id, struct err *err)
{
	size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyz234567");

	if (len != ID_LEN || id[len])
		return err_say(err, ERR_VALIDATION, -EINVAL, "'%.40s' is not the id of a run", id);
	return 0;
}

static int fill(struct rundir *d, const char *id, struct err *err)
{
	*d = (struct rundir){ .fd = -1 };

	int rc = valid_id(id, err);

	if (rc)
		return rc;
	snprintf(d->id, sizeof(d->id), "%s", id);
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s/%s", rundir_top(), id) >=
	    sizeof(d->path))
		return err_set(err, -ENAMETOOLONG, "'%s/%s'", rundir_top(), id);
	return 0;
}

/* Waits for the lock: a walker may hold it shared for an instant. */
static int open_locked(int top, struct rundir *d, struct err *err)
{
	d->fd = openat(top, d->id, OPEN_DIR);
	if (d->fd < 0 || flock(d->fd, LOCK_EX) || fchmod(d->fd, DIR_MODE)) {
		int rc = err_set(err, -errno, "open '%s'", d->path);

		rundir_close(d);
		unlinkat(top, d->id, AT_REMOVEDIR);
		return rc;
	}
	return 0;
}

int rundir_create(struct rundir *d, const char *id, uid_t reader, gid_t reader_gid, struct err *err)
{
	struct stat st;
	int rc = fill(d, id, err);

	if (rc)
		return rc;
	d->reader = reader;
	d->reader_gid = reader_gid;

	own_fd top = open_top(&st, err);

	if (top < 0)
		return top;
	d->tidy_due = tidy_due(&st, id);
	if (mkdirat(top, id, DIR_MODE))
		return err_set(err, -errno, "make '%s'", d->path);
	rc = open_locked(top, d, err);
	if (!rc && reader)
		rundir_index_add(top, id, reader, reader_gid);
	return rc;
}

static int open_below(int top, struct rundir *d, struct err *err)
{
	struct stat st;

	d->fd = openat(top, d->id, OPEN_DIR);
	if (d->fd < 0 && errno == EACCES)
		d->fd = openat(top, d->id, OPEN_DIR | O_PATH);
	if (d->fd < 0)
		return err_say(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_PERMISSION, -errno,
			       "no run '%s'", d->id);
	if (!fstatat(d->fd, published[0], &st, AT_SYMLINK_NOFOLLOW)) {
		d->reader = st.st_uid;
		d->reader_gid = st.st_gid;
	}
	return 0;
}

int rundir_open(struct rundir *d, const char *id, struct err *err)
{
	int rc = fill(d, id, err);

	if (rc)
		return rc;

	/* O_PATH: a user may pass through the top without being allowed to list it. */
	own_fd top = open(rundir_top(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (top < 0)
		return err_say(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_PERMISSION, -errno,
			       "no run '%s'", id);
	return open_below(top, d, err);
}

void rundir_close(struct rundir *d)
{
	close_fd(&d->fd);
}

int rundir_write_json(struct rundir *d, const char *name, json_t *value, struct err *err)
{
	own_str text = json_dumps(value, JSON_COMPACT);

	if (!text)
		return err_set(err, -ENOMEM, "write '%s/%s'", d->path, name);
	return io_replace_file(d->fd, name, text, strlen(text), 0600, err);
}

int rundir_open_file(const struct rundir *d, const char *name)
{
	/* O_NONBLOCK: whatever stands there, opening it must not wait. */
	own_fd fd = openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return take_fd(&fd);
}

/* The whole file, bounded whatever its owner does to it meanwhile. */
static ssize_t read_whole(int fd, char **out)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size > RUNDIR_JSON_MAX)
		return -EFBIG;

	size_t size = (size_t)st.st_size, len = 0;
	own_str bytes = malloc(size + 1);

	if (!bytes)
		return -ENOMEM;
	while (len < size) {
		ssize_t got = pread(fd, bytes + len, size - len, (off_t)len);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			break;
		len += got > 0 ? (size_t)got : 0;
	}
	*out = take_ptr(&bytes);
	return (ssize_t)len;
}

json_t *rundir_read_json(const struct rundir *d, const char *name, struct err *err)
{
	own_fd fd = rundir_open_file(d, name);
	own_str bytes = NULL;
	json_error_t where;
	json_t *value;

	if (fd == -ENOENT) {
		err_say(err, ERR_NOT_FOUND, -ENOENT, "run '%s' has no %s", d->id, name);
		return NULL;
	}

	ssize_t len = fd < 0 ? fd : read_whole(fd, &bytes);

	if (len < 0) {
		err_set(err, (int)len, "read '%s/%s'", d->path, name);
		return NULL;
	}
	value = json_loadb(bytes, (size_t)len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &where);
	if (!value || !json_is_object(value)) {
		json_decref(value);
		value = NULL;
		err_say(err, ERR_PROTOCOL, -EBADMSG, "'%s/%s' is not the JSON object it should be",
			d->path, name);
	}
	return value;
}

int rundir_create_file(struct rundir *d, const char *name, struct err *err)
{
	int fd = openat(d->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_set(err, -errno, "make '%s/%s'", d->path, name) : fd;
}

int rundir_publish(struct rundir *d, struct err *err)
{
	if (!d->reader)
		return 0;
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		own_fd fd = rundir_open_file(d, published[i]);

		if (fd == -ENOENT)
			continue;
		if (fd < 0 || fchown(fd, d->reader, d->reader_gid) || fchmod(fd, 0400))
			return err_set(err, fd < 0 ? fd : -errno, "hand '%s/%s' to its reader",
				       d->path, published[i]);
	}
	return 0;
}

void rundir_release(struct rundir *d)
{
	unlinkat(d->fd, "sock", 0);
}

bool rundir_unreleased(const struct rundir *d)
{
	return !faccessat(d->fd, "sock", F_OK, AT_SYMLINK_NOFOLLOW);
}

int rundir_remove(struct rundir *d)
{
	own_fd top = open(rundir_top(), OPEN_DIR);

	if (top < 0)
		return -errno;
	rundir_close(d);
	return io_remove_tree(top, d->id);
}

static bool young(int fd)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return !fstat(fd, &st) && now.tv_sec - st.st_mtim.tv_sec < MAKING_SECONDS;
}

enum rundir_state rundir_state(const struct rundir *d)
{
	if (!faccessat(d->fd, published[0], F_OK, AT_SYMLINK_NOFOLLOW))
		return RUNDIR_ENDED;

	/* A description of its own: the lock is the description's, and d may be the keeper's. */
	own_fd fd = openat(d->fd, ".", OPEN_DIR);

	/* Who may not list it may not lock it either: connecting will tell. */
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB))
		return RUNDIR_LIVE;
	/* The keeper may have written its result and gone between the two questions. */
	if (!faccessat(d->fd, published[0], F_OK, AT_SYMLINK_NOFOLLOW))
		return RUNDIR_ENDED;
	if (faccessat(d->fd, "meta.json", F_OK, AT_SYMLINK_NOFOLLOW) && young(d->fd))
		return RUNDIR_MAKING;
	return RUNDIR_DEAD;
}

struct each {
	int (*fn)(void *arg, struct rundir *d, enum rundir_state state);
	void *arg;
};

static int each_id(void *arg, const char *id)
{
	const struct each *e = arg;
	struct rundir d;
	int rc;

	if (rundir_open(&d, id, NULL))
		return 0;
	rc = e->fn(e->arg, &d, rundir_state(&d));
	rundir_close(&d);
	return rc;
}

int rundir_each(int (*fn)(void *arg, struct rundir *d, enum rundir_state state), void *arg)
{
	struct each of_user = { fn, arg };
	own_dir dir = opendir(rundir_top());
	struct dirent *entry;
	int rc = 0;

	if (!dir && errno == EACCES)
		return rundir_index_each(rundir_top(), geteuid(), each_id, &of_user);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	for (int seen = 0; !rc && seen < RUNDIR_MAX && (entry = readdir(dir)); seen++) {
		struct rundir d;

		if (fill(&d, entry->d_name, NULL) || open_below(dirfd(dir), &d, NULL))
			continue;
		rc = fn(arg, &d, rundir_state(&d));
		rundir_close(&d);
	}
	return rc < 0 ? rc : 0;
}

struct ended {
	int64_t mtime_s;
	char id[16];
};

struct ended_list {
	struct ended rows[RUNDIR_MAX];
	size_t count;
};

static int note_ended(void *arg, struct rundir *d, enum rundir_state state)
{
	struct ended_list *list = arg;
	struct stat st;

	if (state != RUNDIR_ENDED || fstatat(d->fd, published[0], &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	list->rows[list->count].mtime_s = st.st_mtim.tv_sec;
	memcpy(list->rows[list->count++].id, d->id, sizeof(d->id));
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	return (x->mtime_s < y->mtime_s) - (x->mtime_s > y->mtime_s);
}

void rundir_prune(void)
{
	own_mem struct ended_list *list = malloc(sizeof(*list));
	own_fd top = open(rundir_top(), OPEN_DIR);
	struct timespec now;

	if (!list || top < 0)
		return;
	list->count = 0;
	if (rundir_each(note_ended, list))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	qsort(list->rows, list->count, sizeof(*list->rows), newest_first);
	for (size_t i = 0; i < list->count; i++) {
		int64_t age_s = now.tv_sec - list->rows[i].mtime_s;

		if (i >= RUNDIR_KEEP_COUNT || age_s > (int64_t)(RUNDIR_KEEP_NS / 1000000000))
			io_remove_tree(top, list->rows[i].id);
	}
	rundir_index_tidy(top);
}

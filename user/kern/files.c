/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/own.h"
#include "kern/files_plan.h"
#include "kern/files_rows.h"
#include "kern/half.h"

/* A mount below a rule's directory: what it holds is told about by where it is mounted. */
struct place {
	uint32_t rule, dev;
	char *path;
};

struct files {
	uint64_t sandbox;
	struct files_rows rows;
	int *pins; /* O_PATH: an inode that nobody holds may be forgotten, and its address reused */
	size_t pin_count;
	struct place *places;
	size_t place_count;
	struct files *older; /* generation that could not be taken back yet */
};

/* ---- the objects, where the tree sees them --------------------------------------------------- */

static int open_below(int root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path[1] ? path + 1 : ".", &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int open_object(int root, const struct plan_object *o, int *fd, struct err *err)
{
	*fd = open_below(root, o->path);
	if (*fd >= 0 || o->missing_ok)
		return 0;
	/* Its name is held in its directory, if that is there. */
	if (*fd == -ENOENT && o->row.flags == SBX_FS_RULE)
		return 0;
	return err_set(err, *fd, "open '%s', which a rule names", o->path);
}

/* One descriptor an object. */
static void room_for(size_t count)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= count + 256)
		return;
	lim.rlim_cur = lim.rlim_max < count + 256 ? lim.rlim_max : count + 256;
	setrlimit(RLIMIT_NOFILE, &lim);
}

static int open_objects(struct files *f, const struct files_plan *plan, pid_t pid, struct err *err)
{
	char path[48];
	own_fd root = -1;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	room_for(plan->object_count);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_set(err, -errno, "open '%s'", path);
	f->pins = calloc(plan->object_count, sizeof(*f->pins));
	if (!f->pins)
		return err_set(err, -ENOMEM, "open the objects of the file policy");
	for (size_t i = 0; i < plan->object_count && !rc; i++, f->pin_count++)
		rc = open_object(root, &plan->objects[i], &f->pins[i], err);
	return rc;
}

/* For people only: stat's device is the kernel's, but for file systems that number theirs themselves. */
static int note_places(struct files *f, const struct files_plan *plan, struct err *err)
{
	struct stat st;

	f->places = calloc(plan->object_count, sizeof(*f->places));
	if (!f->places)
		return err_set(err, -ENOMEM, "note the mounts of the file policy");
	for (size_t i = 0; i < plan->object_count; i++) {
		const struct plan_object *o = &plan->objects[i];
		struct place *place = &f->places[f->place_count];

		if (o->named || f->pins[i] < 0 || fstat(f->pins[i], &st))
			continue;
		*place = (struct place){ .rule = o->row.rule,
					 .dev = major(st.st_dev) << 20 | minor(st.st_dev),
					 .path = strdup(o->path) };
		f->place_count += place->path != NULL;
	}
	return 0;
}

const char *files_place(const struct files *f, uint32_t rule, uint32_t dev)
{
	for (size_t i = 0; f && i < f->place_count; i++)
		if (f->places[i].rule == rule && f->places[i].dev == dev)
			return f->places[i].path;
	return NULL;
}

static int read_mountinfo(pid_t pid, struct buf *text, struct err *err)
{
	char path[48];
	own_fd fd = -1;
	char piece[16384];
	ssize_t n = 0;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "open '%s'", path);
	while (!rc && (n = read(fd, piece, sizeof(piece))) > 0)
		rc = buf_add(text, piece, (size_t)n);
	if (!rc && n < 0)
		rc = -errno;
	if (!rc && !text->data)
		rc = -ENODATA;
	return rc ? err_set(err, rc, "read '%s'", path) : 0;
}

/* ---- publish -------------------------------------------------------------------------------- */

static int control(struct kern *k, uint64_t sandbox, uint32_t what, uint64_t generation)
{
	struct sbx_control c = { .sandbox = sandbox, .what = what, .key = generation };
	int fd = half_fd(k, HALF_CONTROL);
	int rc = fd < 0 ? fd : half_run(fd, &c, sizeof(c));

	return rc ? rc : c.error;
}

/* Never 0 above its flags. */
static uint64_t fresh_generation(uint32_t flags)
{
	uint64_t random = 0;

	while (!(random >> SBX_FS_FLAGS_BITS))
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			random = 0;
	return random >> SBX_FS_FLAGS_BITS << SBX_FS_FLAGS_BITS | flags;
}

static int rows_error(int rc, struct err *err)
{
	if (rc == -ENOSPC)
		return err_say(err, ERR_BUSY, rc,
			       "the tables of the kernel half have no room for this file policy "
			       "(%d objects, %d names): sbxctl ps shows the sandboxes",
			       SBX_MAX_FS_OBJECTS, SBX_MAX_FS_ENTRIES);
	return err_set(err, rc, "fill the rows of the file policy");
}

/* Claimed before a row is there: the sweep of others takes rows that no sandbox claims. */
static int fill(struct files *f, struct kern *k, const struct files_plan *plan, bool audit,
		struct err *err)
{
	int rc = files_rows_make(&f->rows, k, plan, f->pins,
				 fresh_generation(plan->flags | (audit ? SBX_FS_AUDIT : 0)));

	if (!rc)
		rc = control(k, f->sandbox, SBX_CONTROL_FILES_CLAIM, f->rows.generation);
	if (!rc)
		rc = files_rows_insert(&f->rows, k);
	if (rc)
		return rows_error(rc, err);
	rc = control(k, f->sandbox, SBX_CONTROL_FILES_PUBLISH, f->rows.generation);
	return rc ? err_set(err, rc, "put the file policy in force") : 0;
}

static void drop(struct files *f, struct kern *k)
{
	files_rows_delete(&f->rows, k);
	files_rows_done(&f->rows);
	for (size_t i = 0; i < f->pin_count; i++)
		if (f->pins[i] >= 0)
			close(f->pins[i]);
	for (size_t i = 0; i < f->place_count; i++)
		free(f->places[i].path);
	free(f->places);
	free(f->pins);
	free(f);
}

/* Verdicts under way still read the old rows: they run under RCU, and this waits for it. Where it
 * does not (nohz_full), the rows stay until the release. */
static bool none_reads_old(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static int make(struct files *f, struct kern *k, const struct file_policy *policy,
		const struct files_opts *opts, struct err *err)
{
	struct buf text = { 0 };
	struct files_plan plan = { 0 };
	int rc = read_mountinfo(opts->pid, &text, err);

	if (!rc)
		rc = files_plan_make(&plan, policy, text.data, err);
	if (!rc)
		rc = open_objects(f, &plan, opts->pid, err);
	if (!rc)
		rc = note_places(f, &plan, err);
	if (!rc)
		rc = fill(f, k, &plan, opts->audit, err);
	files_plan_done(&plan);
	buf_done(&text);
	return rc;
}

int files_publish(struct files **files, struct kern *k, const struct file_policy *policy,
		  const struct files_opts *opts, struct err *err)
{
	struct files *fresh = calloc(1, sizeof(*fresh));
	const char *why;
	int rc;

	if (!fresh)
		return err_set(err, -ENOMEM, "publish a file policy");
	fresh->sandbox = opts->sandbox;
	rc = files_available(k, &why) ? make(fresh, k, policy, opts, err)
				      : err_cannot(err, "filesystem_confinement", "%s", why);
	if (rc) {
		drop(fresh, k);
		return rc;
	}
	if (*files && none_reads_old())
		drop(*files, k);
	else if (*files)
		fresh->older = *files;
	*files = fresh;
	return 0;
}

const int *files_pins(const struct files *f, size_t *count)
{
	*count = f ? f->pin_count : 0;
	return f ? f->pins : NULL;
}

int files_hold(const struct files *f, struct kern *k)
{
	return control(k, f->sandbox, SBX_CONTROL_FILES_HOLD, f->rows.generation);
}

void files_release(struct files *files, struct kern *k)
{
	struct files *older;

	for (; files; files = older) {
		older = files->older;
		drop(files, k);
	}
}

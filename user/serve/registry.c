/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "base/text.h"
#include "kern/kern.h"
#include "policy/spec.h"

#define CANDIDATES_MAX 5 /* named in the message */
#define LOCK_PAUSE_NS 5000000
#define LOCK_TRIES 2000 /* ten seconds: what a start may take */

struct search {
	const char *word;
	size_t len;
	bool by_prefix;
	unsigned int found;
	char ids[CANDIDATES_MAX][16];
	char named[16]; /* the live run of that name */
};

static bool has_name(const struct rundir *d, const char *name)
{
	json_t *meta = rundir_read_json(d, "meta.json", NULL);
	const char *its =
		json_string_value(json_object_get(json_object_get(meta, "result"), "name"));
	bool same = its && !strcmp(its, name);

	json_decref(meta);
	return same;
}

static int note(void *arg, struct rundir *d, enum rundir_state state)
{
	struct search *s = arg;
	bool live = state == RUNDIR_LIVE || (s->by_prefix && state == RUNDIR_DEAD);
	bool hit = s->by_prefix && !strncmp(d->id, s->word, s->len);
	bool named = live && has_name(d, s->word);

	if (named && state == RUNDIR_LIVE)
		memcpy(s->named, d->id, sizeof(d->id));
	if (!hit && !named)
		return 0;
	if (s->found < CANDIDATES_MAX)
		memcpy(s->ids[s->found], d->id, sizeof(d->id));
	s->found++;
	return 0;
}

static int ambiguous(const struct search *s, struct err *err)
{
	char list[CANDIDATES_MAX * 18 + 8] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < s->found && i < CANDIDATES_MAX; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 s->ids[i]);
	return err_say(err, ERR_VALIDATION, -EINVAL, "'%.*s' is ambiguous: %s%s",
		       (int)text_cut_head(s->word, s->len, SPEC_NAME_MAX), s->word, list,
		       s->found > CANDIDATES_MAX ? ", …" : "");
}

static int search(struct search *s, struct err *err)
{
	int rc = rundir_each(note, s);

	if (rc == -EACCES)
		return err_say(err, ERR_PERMISSION, rc,
			       "only root can look runs up by prefix or name: give the whole id");
	return rc ? err_set(err, rc, "list '%s'", rundir_top()) : 0;
}

/* Whose run this is not learns no more than whose id does not exist (contract 107). */
static bool may_see(const struct rundir *d)
{
	return geteuid() == 0 || !faccessat(d->fd, "sock", W_OK, AT_EACCESS) ||
	       !faccessat(d->fd, "result.json", R_OK, AT_EACCESS);
}

static int find_whole(const char *id, struct rundir *d, enum rundir_state *state, struct err *err)
{
	int rc = rundir_open(d, id, NULL);

	if (!rc && may_see(d)) {
		*state = rundir_state(d);
		return 0;
	}
	rundir_close(d);
	return err_say(err, ERR_NOT_FOUND, -ENOENT, "no run '%s' of yours", id);
}

int registry_find(const char *word, struct rundir *d, enum rundir_state *state, struct err *err)
{
	struct search s = { .word = word, .len = strlen(word), .by_prefix = true };
	int rc = 0;

	/* A whole id needs no list, which only root may read; root's may still be a name. */
	if (s.len == SBX_ID_LEN) {
		rc = find_whole(word, d, state, err);
		if (!rc || geteuid() != 0)
			return rc;
	}
	if (s.len == 0)
		return err_say(err, ERR_VALIDATION, -EINVAL, "an empty word names no run");
	rc = search(&s, err);
	if (rc)
		return rc;
	/* Names are chosen and ids are not: whose id happens to begin like a name must not stand in its way. */
	if (s.named[0])
		memcpy(s.ids[0], s.named, sizeof(s.named));
	else if (s.found > 1)
		return ambiguous(&s, err);
	if (!s.found)
		return err_say(err, ERR_NOT_FOUND, -ENOENT, "no run '%.*s' (see: sbxctl ps -a)",
			       (int)text_cut_head(word, s.len, SPEC_NAME_MAX), word);
	rc = rundir_open(d, s.ids[0], err);
	if (!rc)
		*state = rundir_state(d);
	return rc;
}

/* One start with a name at a time, from the look until its record can be looked at. Not for ever: one of them may have been
 * stopped. */
static int lock_names(struct err *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	own_fd top = rundir_open_top(err);

	for (int i = 0; top >= 0 && flock(top, LOCK_EX | LOCK_NB); i++) {
		if (i == LOCK_TRIES || errno != EWOULDBLOCK)
			return err_say(err, ERR_BUSY, -EBUSY,
				       "--name: another named run does not get started (is its "
				       "sbxctl stopped?); leave the name out");
		nanosleep(&pause, NULL);
	}
	return take_fd(&top);
}

int registry_claim(const char *name, int *lock, struct err *err)
{
	struct search s = { .word = name, .len = strlen(name) };
	own_fd top = lock_names(err);
	int rc = top < 0 ? top : search(&s, err);

	if (!rc && s.found)
		rc = err_say(err, ERR_BUSY, -EEXIST, "run '%s' already has the name '%s'", s.ids[0],
			     name);
	if (!rc)
		*lock = take_fd(&top);
	return rc;
}

void registry_claimed(int *lock)
{
	/* Not by closing alone: a front that waits and a child on its way to its exec have it, too. */
	if (*lock >= 0)
		flock(*lock, LOCK_UN);
	close_fd(lock);
}

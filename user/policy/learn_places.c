/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/learn_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"

#define TOGETHER 2 /* files of one directory are that directory */
#define MERGE 4	   /* places side by side are what they lie in */

/* A path without a copy: its first bytes. */
struct piece {
	const char *path;
	size_t len;
};

/* Something, by the directory it lies in. */
struct member {
	struct piece parent;
	const void *what;
};

struct finding {
	const struct learn_opts *opts;
	struct learn_places *out;
	struct member *members; /* room for all */
};

static int compare_pieces(struct piece one, struct piece other)
{
	int order = memcmp(one.path, other.path, one.len < other.len ? one.len : other.len);

	return order ? order : (one.len > other.len) - (one.len < other.len);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *one = a, *other = b;

	return compare_pieces(one->parent, other->parent);
}

static int compare_places(const void *a, const void *b)
{
	const struct learn_place *one = a, *other = b;

	return compare_pieces((struct piece){ one->path, one->len },
			      (struct piece){ other->path, other->len });
}

static struct piece parent_of(const char *path, size_t len)
{
	while (len > 1 && path[len - 1] != '/')
		len--;
	return (struct piece){ path, len > 1 ? len - 1 : 1 };
}

static bool is(struct piece piece, const char *text)
{
	return strlen(text) == piece.len && !memcmp(text, piece.path, piece.len);
}

/* Whether it is `piece`, or lies in it. */
static bool within(const char *path, size_t len, struct piece piece)
{
	return piece.len == 1 || (len >= piece.len && !memcmp(path, piece.path, piece.len) &&
				  (len == piece.len || path[piece.len] == '/'));
}

/* ---- what nobody gets --------------------------------------------------------------------------------- */

/* Shared by all programs of the system, or of a user. */
static const char *const system_wide[] = {
	"/",	    "/bin",	  "/boot",     "/dev",	     "/etc", "/home",	   "/lib",
	"/lib32",   "/lib64",	  "/libx32",   "/media",     "/mnt", "/opt",	   "/root",
	"/run",	    "/sbin",	  "/srv",      "/tmp",	     "/usr", "/usr/bin",   "/usr/lib",
	"/usr/lib", "/usr/local", "/usr/sbin", "/usr/share", "/var", "/var/cache", "/var/lib",
	"/var/log", "/var/spool", "/var/tmp",  "/dev/shm",
};
static const char *const user_wide[] = { "/.cache", "/.config", "/.local", "/.local/share",
					 "/.local/state" };

static bool is_wide(const struct learn_opts *o, struct piece dir)
{
	size_t home = strlen(o->home);

	for (size_t i = 0; i < sizeof(system_wide) / sizeof(system_wide[0]); i++)
		if (is(dir, system_wide[i]))
			return true;
	if (within(o->home, home, dir) || is(parent_of(dir.path, dir.len), "/home"))
		return true;
	for (size_t i = 0; i < sizeof(user_wide) / sizeof(user_wide[0]); i++)
		if (within(dir.path, dir.len, (struct piece){ o->home, home }) &&
		    is((struct piece){ dir.path + home, dir.len - home }, user_wide[i]))
			return true;
	return false;
}

/* Whether a directory may be granted as a whole: nothing below is denied. */
static bool fits(const struct learn_opts *o, struct piece dir)
{
	if (is_wide(o, dir))
		return false;
	for (size_t i = 0; i < o->policy->count; i++) {
		const struct file_rule *rule = &o->policy->rules[i];

		if (rule->reach != FILE_ANYWHERE && !rule->rights &&
		    within(rule->path, strlen(rule->path), dir))
			return false;
	}
	return true;
}

static bool is_kernel(const char *path)
{
	static const char *const tops[] = { "/dev", "/proc", "/sys" };

	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
		if (within(path, strlen(path), (struct piece){ tops[i], strlen(tops[i]) }))
			return true;
	return false;
}

const char *learn_private_top(const struct learn_opts *o, const char *path)
{
	static const char *const tops[] = { "/tmp", "/var/tmp", "/dev/shm" };

	for (size_t i = 0; o->private_tmp && i < sizeof(tops) / sizeof(tops[0]); i++)
		if (within(path, strlen(path), (struct piece){ tops[i], strlen(tops[i]) }))
			return tops[i];
	return NULL;
}

/* A rule that takes away what holds around it was meant; what is granted on a private /tmp says nothing about what
 * stays visible in it. */
static bool holds_back(const struct learn_opts *o, const struct file_rule *rule, unsigned int right)
{
	struct piece parent = parent_of(rule->path, strlen(rule->path));
	own_str above = strndup(parent.path, parent.len);
	const struct file_rule *around;
	const char *top;

	if (rule->reach == FILE_ANYWHERE || !above)
		return true;
	around = files_decide(o->policy, above);
	top = learn_private_top(o, rule->path);
	return around != rule && around->rights & ~rule->rights & right &&
	       !(top && !strcmp(around->path, top));
}

static void refuse(struct finding *f, const struct learn_need *need, enum learn_reason reason,
		   const struct file_rule *rule)
{
	f->out->refusals[f->out->refused++] = (struct learn_refusal){ need, reason, rule };
}

/* Whether it may be learnt at all. */
static bool judge(struct finding *f, const struct learn_need *need)
{
	const struct file_rule *rule = files_decide(f->opts->policy, need->path);
	struct buf word = { 0 };
	int rc;

	if (!rule->rights) {
		refuse(f, need, LEARN_DENIED, rule);
		return false;
	}
	if (holds_back(f->opts, rule, need->right)) {
		refuse(f, need, LEARN_HELD, rule);
		return false;
	}
	if (is_kernel(need->path)) {
		refuse(f, need, LEARN_KERNEL, NULL);
		return false;
	}
	rc = learn_word(need->path, &word);
	buf_done(&word);
	if (rc)
		refuse(f, need, LEARN_NAME, NULL);
	return rc == 0;
}

/* ---- from needs to places ------------------------------------------------------------------------------ */

static void add_place(struct finding *f, const char *path, size_t len, bool write, size_t needs)
{
	f->out->places[f->out->count++] = (struct learn_place){ path, len, write, needs };
}

static void place_alone(struct finding *f, const struct learn_need *need, bool write)
{
	struct piece whole = { need->path, strlen(need->path) };

	if (need->exists && (!need->directory || fits(f->opts, whole)))
		add_place(f, whole.path, whole.len, write, 1);
	else if (!(need->exists && need->directory && need->entry)) /* it need not be made again */
		refuse(f, need, LEARN_WHOLE, NULL);
}

/* The needs of one directory. */
static void place_group(struct finding *f, const struct member *members, size_t count, bool write)
{
	const struct learn_need *first = members->what;
	bool whole = count >= TOGETHER ||
		     (first->entry && write && !(first->exists && first->directory));

	if (whole && fits(f->opts, members->parent)) {
		add_place(f, members->parent.path, members->parent.len, write, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		place_alone(f, members[i].what, write);
}

static bool is_covered(const struct learn_places *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (within(path, strlen(path),
			   (struct piece){ p->places[i].path, p->places[i].len }))
			return true;
	return false;
}

static size_t group_end(const struct member *members, size_t count, size_t begin)
{
	size_t end = begin + 1;

	while (end < count && !compare_members(&members[begin], &members[end]))
		end++;
	return end;
}

static void place_needs(struct finding *f, const struct learn_need *needs, size_t count, bool write)
{
	size_t n = 0, end;

	for (size_t i = 0; i < count; i++) {
		if (!(needs[i].right & FILE_WRITE) == write ||
		    (!write && is_covered(f->out, needs[i].path)) || !judge(f, &needs[i]))
			continue;
		f->members[n++] = (struct member){ parent_of(needs[i].path, strlen(needs[i].path)),
						   &needs[i] };
	}
	if (n)
		qsort(f->members, n, sizeof(*f->members), compare_members);
	for (size_t i = 0; i < n; i = end) {
		end = group_end(f->members, n, i);
		place_group(f, &f->members[i], end - i, write);
	}
}

/* ---- fewer of them --------------------------------------------------------------------------------------- */

/* From `from` on: sorted, and nothing in what is there already. */
static void drop_covered(struct learn_places *p, size_t from)
{
	size_t out = from;

	if (p->count > from)
		qsort(p->places + from, p->count - from, sizeof(*p->places), compare_places);
	for (size_t i = from; i < p->count; i++) {
		struct learn_place *last = out > from ? &p->places[out - 1] : NULL;

		if (last && within(p->places[i].path, p->places[i].len,
				   (struct piece){ last->path, last->len }))
			last->needs += p->places[i].needs;
		else
			p->places[out++] = p->places[i];
	}
	p->count = out;
}

/* Whether any were merged. */
static bool merge(struct finding *f, size_t from, bool write)
{
	struct learn_places *p = f->out;
	size_t n = p->count - from, before = p->count, end;

	for (size_t i = 0; i < n; i++) {
		const struct learn_place *place = &p->places[from + i];

		f->members[i] = (struct member){ parent_of(place->path, place->len), place };
	}
	if (n)
		qsort(f->members, n, sizeof(*f->members), compare_members);
	for (size_t i = 0; i < n; i = end) {
		end = group_end(f->members, n, i);
		if (end - i < MERGE || !fits(f->opts, f->members[i].parent))
			continue;
		add_place(f, f->members[i].parent.path, f->members[i].parent.len, write, 0);
	}
	if (p->count == before)
		return false;
	drop_covered(p, from);
	return true;
}

static void find(struct finding *f, const struct learn_need *needs, size_t count, bool write)
{
	size_t from = f->out->count;

	place_needs(f, needs, count, write);
	drop_covered(f->out, from);
	while (merge(f, from, write))
		;
}

int learn_places_find(const struct learn_opts *opts, const struct learn_need *needs, size_t count,
		      struct learn_places *out)
{
	/* A merge adds one place before it drops at least MERGE. */
	size_t room = count + count / MERGE + 1;
	own_mem struct member *members = calloc(room, sizeof(*members));
	struct finding f = { .opts = opts, .out = out, .members = members };

	*out = (struct learn_places){
		.places = calloc(room, sizeof(*out->places)),
		.refusals = calloc(room, sizeof(*out->refusals)),
	};
	if (!members || !out->places || !out->refusals)
		return -ENOMEM;
	find(&f, needs, count, true);
	find(&f, needs, count, false);
	return 0;
}

void learn_places_done(struct learn_places *places)
{
	free(places->places);
	free(places->refusals);
	*places = (struct learn_places){ 0 };
}

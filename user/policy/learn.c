/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/own.h"
#include "base/text.h"
#include "policy/learn_places.h"

struct learn {
	struct learn_opts opts;
	struct learn_need *needs; /* paths are ours */
	size_t count, room;
};

struct learn *learn_new(const struct learn_opts *opts)
{
	struct learn *l = calloc(1, sizeof(*l));

	if (l)
		l->opts = *opts;
	return l;
}

void learn_free(struct learn *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free((char *)l->needs[i].path);
	free(l->needs);
	free(l);
}

static bool below(const char *path, const char *top)
{
	size_t len = strlen(top);

	return !strncmp(path, top, len) && (path[len] == '/' || !path[len]);
}

/* In a private /tmp nothing is that a rule could be about, unless one is: then it stays visible. */
static bool is_private(const struct learn_opts *o, const struct file_rule *rule, const char *path)
{
	const char *top = learn_private_top(o, path);

	return top && (!below(rule->path, top) || !strcmp(rule->path, top));
}

bool learn_wanted(const struct learn *l, const char *path, unsigned int rights)
{
	const struct file_rule *rule = files_decide(l->opts.policy, path);

	return rights & ~rule->rights && !is_private(&l->opts, rule, path);
}

/* ---- what was needed, each path once ----------------------------------------------------------------- */

static int compare_needs(const void *a, const void *b)
{
	const struct learn_need *one = a, *other = b;

	return strcmp(one->path, other->path);
}

static void compact(struct learn *l)
{
	size_t out = 0;

	if (l->count)
		qsort(l->needs, l->count, sizeof(*l->needs), compare_needs);
	for (size_t i = 0; i < l->count; i++) {
		struct learn_need *last = out ? &l->needs[out - 1] : NULL;

		if (!last || strcmp(last->path, l->needs[i].path) != 0) {
			l->needs[out++] = l->needs[i];
			continue;
		}
		last->right |= l->needs[i].right;
		last->entry |= l->needs[i].entry;
		free((char *)l->needs[i].path);
	}
	l->count = out;
}

static int make_room(struct learn *l, struct err *err)
{
	struct learn_need *grown;
	size_t room = l->room ? 2 * l->room : 256;

	if (l->count < l->room)
		return 0;
	compact(l);
	if (l->count < l->room / 2)
		return 0;
	if (l->count >= LEARN_NEEDS_MAX)
		return err_say(err, ERR_VALIDATION, -ENOSPC,
			       "the command touched more than %d paths that the base withholds",
			       LEARN_NEEDS_MAX);
	grown = reallocarray(l->needs, room, sizeof(*grown));
	if (!grown)
		return err_set(err, -ENOMEM, "learn");
	l->needs = grown;
	l->room = room;
	return 0;
}

int learn_add(struct learn *l, const struct learn_need *need, struct err *err)
{
	struct learn_need copy = *need;
	int rc;

	if (!learn_wanted(l, need->path, need->right))
		return 0;
	rc = make_room(l, err);
	if (rc < 0)
		return rc;
	copy.path = strdup(need->path);
	if (!copy.path)
		return err_set(err, -ENOMEM, "learn");
	copy.right &= ~files_decide(l->opts.policy, copy.path)->rights;
	l->needs[l->count++] = copy;
	return 0;
}

/* ---- text --------------------------------------------------------------------------------------------- */

#define REFUSALS_SHOWN 64

static bool sayable(const char *path)
{
	if (!text_valid(path, strlen(path)) || strchr(path, '"') || strstr(path, "%h") ||
	    strstr(path, "%d"))
		return false;
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f)
			return false;
	return true;
}

/* `mark` is what stands for the path's beginning. */
static int add_word(const char *mark, const char *path, struct buf *out)
{
	const char *quote = strpbrk(path, " \\") ? "\"" : "";
	int rc = buf_printf(out, "%s%s", quote, mark);

	for (; *path && !rc; path++)
		rc = buf_printf(out, "%s%c", strchr("*?[\\", *path) ? "\\" : "", *path);
	return rc ? rc : buf_printf(out, "%s", quote);
}

int learn_word(const char *path, struct buf *out)
{
	return sayable(path) ? add_word("", path, out) : -EINVAL;
}

/* Below the working directory, below the home, or absolute. */
static int say_place(const struct learn_opts *o, const struct learn_place *place, struct buf *out)
{
	const struct {
		const char *top, *mark;
	} tops[] = { { o->directory, "%d" }, { o->home, "~" } };
	own_str path = strndup(place->path, place->len);
	const char *mark = "", *rest = path;
	int rc;

	if (!path)
		return -ENOMEM;
	for (size_t i = 0; i < 2 && !*mark; i++) {
		size_t len = strlen(tops[i].top);

		if (len > 1 && below(path, tops[i].top)) {
			mark = tops[i].mark;
			rest = path + len;
		}
	}
	rc = buf_printf(out, "# %zu path%s\n%s=", place->needs, place->needs == 1 ? "" : "s",
			place->write ? "Write" : "Read");
	if (!rc)
		rc = add_word(mark, rest, out);
	return rc ? rc : buf_printf(out, "\n");
}

static const char *act_text(const struct learn_need *need)
{
	if (need->right & FILE_WRITE)
		return need->entry ? "create or remove" : "write";
	return need->right & FILE_READ ? "read" : "execute";
}

static int say_refusal(const struct learn_refusal *r, struct buf *out)
{
	static const char *const reasons[] = {
		[LEARN_KERNEL] = "a device, or the kernel's own",
		[LEARN_WHOLE] = "it takes the whole directory around it",
		[LEARN_NAME] = "a profile cannot say its name",
	};
	own_str path = strdup(r->need->path);
	int rc;

	if (!path)
		return -ENOMEM;
	text_line(path);
	rc = buf_printf(out, "# refused to learn: %s %s: ", act_text(r->need), path);
	if (rc)
		return rc;
	if (!r->rule)
		return buf_printf(out, "%s\n", reasons[r->reason]);
	return buf_printf(out, "%s %s (%s)\n", file_verb_name(r->rule->verb), r->rule->written,
			  r->rule->origin);
}

static int say_all(const struct learn *l, const struct learn_places *p, const char *by,
		   size_t unknown, struct buf *out)
{
	int rc = buf_printf(out,
			    "# Learnt from: %s\n# Seen by %s: %zu paths beyond %s, in %zu places; "
			    "%zu refused\n",
			    l->opts.command, by, l->count - p->refused, l->opts.base, p->count,
			    p->refused);

	if (unknown && !rc)
		rc = buf_printf(out, "# %zu acts were seen without what they were on\n", unknown);
	if (!rc)
		rc = buf_printf(out, "Extends=%s\n", l->opts.base);
	if (p->count && !rc)
		rc = buf_printf(out, "\n[Filesystem]\n");
	for (size_t i = 0; i < p->count && !rc; i++)
		rc = say_place(&l->opts, &p->places[i], out);
	if (p->refused && !rc)
		rc = buf_printf(out, "\n");
	for (size_t i = 0; i < p->refused && i < REFUSALS_SHOWN && !rc; i++)
		rc = say_refusal(&p->refusals[i], out);
	if (p->refused > REFUSALS_SHOWN && !rc)
		rc = buf_printf(out, "# and %zu more\n", p->refused - REFUSALS_SHOWN);
	return rc;
}

int learn_text(struct learn *l, const char *by, size_t unknown, struct buf *out,
	       struct learn_counts *counts, struct err *err)
{
	struct learn_places places;
	int rc;

	compact(l);
	rc = learn_places_find(&l->opts, l->needs, l->count, &places);
	if (!rc)
		rc = say_all(l, &places, by, unknown, out);
	*counts = (struct learn_counts){ l->count, places.count, places.refused };
	learn_places_done(&places);
	return rc ? err_set(err, rc, "write the profile") : 0;
}

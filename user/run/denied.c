/* SPDX-License-Identifier: Apache-2.0 */
#include "run/denied.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/hint.h"
#include "run/json.h"

struct reading {
	struct denied *out;
	const struct denied_source *source;
};

static const char *rule_path(void *arg, uint32_t index, uint32_t dev)
{
	const struct reading *r = arg;
	const char *place = files_place(r->source->files, index, dev);
	const struct file_policy *policy = r->source->policy;

	if (place)
		return place;
	return index < policy->count ? policy->rules[index].path : NULL;
}

static struct hint_wanted wanted_by(enum sbx_act act)
{
	switch (act) {
	case SBX_ACT_READ:
	case SBX_ACT_RECEIVE:
		return (struct hint_wanted){ FILE_READ, false };
	case SBX_ACT_EXECUTE:
		return (struct hint_wanted){ FILE_EXEC, false };
	case SBX_ACT_CREATE:
	case SBX_ACT_REMOVE:
	case SBX_ACT_RENAME:
	case SBX_ACT_LINK:
		return (struct hint_wanted){ FILE_WRITE, true };
	default:
		return (struct hint_wanted){ FILE_WRITE, false };
	}
}

static char *rule_text(const struct file_rule *rule)
{
	char *text = NULL;

	if (!rule)
		return strdup("");
	return asprintf(&text, "%s %s (%s)", file_verb_name(rule->verb), rule->written,
			rule->origin) < 0
		       ? NULL
		       : text;
}

/* What a system call returned may have another reason than policy, or is told by the hook that refused. */
static bool explains(const struct denied_source *s, struct denial *d, const struct file_rule **rule,
		     char path[REPORT_PATH])
{
	if (d->net)
		return report_blames_net(s->net, d, s->directory, path);
	*rule = s->files ? NULL : report_blame(s->policy, d, s->directory, path);
	return *rule;
}

static int add(void *arg, const struct denial *seen)
{
	struct reading *r = arg;
	struct denial copy = *seen, *d = &copy;
	struct denied *out = r->out;
	const struct file_policy *policy = r->source->policy;
	const struct file_rule *rule = d->rule < policy->count ? &policy->rules[d->rule] : NULL;
	struct denied_item *item, *items;
	char hint[4 * REPORT_PATH + 16], path[REPORT_PATH];
	const char *object = d->path;

	if (d->syscall) {
		if (!explains(r->source, d, &rule, path))
			return 0;
		object = path;
	}
	out->total += d->count;
	items = reallocarray(out->items, out->count + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	out->items = items;
	item = &items[out->count];
	if (d->net)
		hint_net_text(denials_act_name(d->act), object, hint, sizeof(hint));
	else
		hint_text(rule, wanted_by(d->act), object, hint, sizeof(hint));
	*item = (struct denied_item){ .act = denials_act_name(d->act),
				      .object = strdup(object),
				      .rule = rule_text(rule),
				      .hint = strdup(hint),
				      .error = d->error,
				      .pid = d->pid,
				      .count = d->count,
				      .first_ns = d->first_ns,
				      .address = d->address,
				      .syscall = d->syscall };
	memcpy(item->comm, d->comm, sizeof(item->comm));
	out->count++;
	out->from_hook |= !d->syscall;
	out->from_syscall |= d->syscall;
	return item->object && item->rule && item->hint ? 0 : -ENOMEM;
}

int denied_read(struct denied *out, struct kern *k, uint64_t id, const struct denied_source *source)
{
	struct reading r = { .out = out, .source = source };
	uint64_t total;
	int rc;

	*out = (struct denied){ .incomplete = !source->files };
	rc = denials_total(k, id, &total, &out->dropped);
	if (rc == 0)
		rc = denials_each(k, id, rule_path, add, &r);
	if (source->files)
		out->total = total;
	return rc;
}

json_t *denied_item_json(const struct denied_item *d)
{
	const char *error = strerrorname_np(d->error);

	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:I, s:o, s:I, s:s, s:o}", "act", d->act,
			 "object", json_view(d->object, strlen(d->object)), "name",
			 d->name ? json_view(d->name, strlen(d->name)) : json_null(), "rule",
			 d->rule[0] ? json_view(d->rule, strlen(d->rule)) : json_null(), "errno",
			 error ? error : "?", "pid", (json_int_t)d->pid, "comm",
			 json_view(d->comm, strnlen(d->comm, sizeof(d->comm))), "count",
			 (json_int_t)d->count, "source", d->syscall ? "syscall" : "hook", "hint",
			 d->hint[0] ? json_view(d->hint, strlen(d->hint)) : json_null());
}

json_t *denied_json(const struct denied *denied, size_t most)
{
	json_t *items = json_array(), *sources = json_array();

	for (size_t i = 0; i < denied->count && i < most; i++)
		if (json_array_append_new(items, denied_item_json(&denied->items[i]))) {
			json_decref(items);
			items = NULL; /* json_pack fails on it */
			break;
		}
	if (denied->from_hook)
		json_array_append_new(sources, json_string("hook"));
	if (denied->from_syscall)
		json_array_append_new(sources, json_string("syscall"));
	return json_pack("{s:I, s:I, s:b, s:o, s:o}", "total", (json_int_t)denied->total, "dropped",
			 (json_int_t)denied->dropped, "complete", !denied->incomplete, "sources",
			 sources, "items", items);
}

void denied_done(struct denied *denied)
{
	for (size_t i = 0; i < denied->count; i++) {
		free(denied->items[i].object);
		free(denied->items[i].name);
		free(denied->items[i].rule);
		free(denied->items[i].hint);
	}
	free(denied->items);
	*denied = (struct denied){ 0 };
}

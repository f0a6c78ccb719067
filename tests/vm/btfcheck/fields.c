/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields: each CO-RE relocation of the object is spelled out by names and followed through the
 * kernel's types. One that leads nowhere holds only where the object asks before it reads.
 */
#include "btfcheck.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libbpf 1.1 declares this function by a name that it does not export. */
const void *btf_ext__get_raw_data(const struct btf_ext *btf_ext, __u32 *size);

#define MAX_PATH 32

/* The header of .BTF.ext, from the kernel's documentation; libbpf keeps its own copy private. */
struct ext_header {
	__u16 magic;
	__u8 version, flags;
	__u32 hdr_len, func_info_off, func_info_len, line_info_off, line_info_len;
	__u32 core_relo_off, core_relo_len;
};

struct ext_section {
	__u32 sec_name_off, num_info;
	__u8 data[];
};

/* A relocation spelled out: the type without its ___flavour, and the members on the way. */
struct field {
	char type[128];
	const char *member[MAX_PATH];
	int n;
};

static void essential_name(char *to, size_t size, const char *name)
{
	const char *flavour = strstr(name, "___");

	snprintf(to, size, "%.*s", flavour ? (int)(flavour - name) : (int)strlen(name), name);
}

/* The access string is "0:1:3": the first number indexes the pointer, the rest members or elements. */
static int spell(const struct btf *btf, const struct bpf_core_relo *relo, struct field *f)
{
	const struct btf_type *t = btf__type_by_id(btf, relo->type_id);
	const char *at = name_of(btf, relo->access_str_off);
	char *end;

	essential_name(f->type, sizeof(f->type), name_of(btf, t->name_off));
	f->n = 0;
	t = skip_mods(btf, relo->type_id);
	strtoul(at, &end, 10);
	while (t && *end == ':') {
		unsigned long index = strtoul(end + 1, &end, 10);

		if (btf_is_array(t)) {
			t = skip_mods(btf, btf_array(t)->type);
			continue;
		}
		if (!btf_is_composite(t) || index >= btf_vlen(t) || f->n == MAX_PATH)
			return -EINVAL;
		const struct btf_member *m = btf_members(t) + index;

		if (m->name_off)
			f->member[f->n++] = name_of(btf, m->name_off);
		t = skip_mods(btf, m->type);
	}
	return 0;
}

/* The member's type, searched through anonymous structs and unions; NULL without one. */
static const struct btf_type *find_member(const struct btf *btf, const struct btf_type *t,
					  const char *name)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; i < btf_vlen(t); i++, m++) {
		const struct btf_type *inner = skip_mods(btf, m->type);

		if (strcmp(name_of(btf, m->name_off), name) == 0)
			return inner;
		if (m->name_off || !inner || !btf_is_composite(inner))
			continue;
		inner = find_member(btf, inner, name);
		if (inner)
			return inner;
	}
	return NULL;
}

static const struct btf_type *element(const struct btf *btf, const struct btf_type *t)
{
	while (t && btf_is_array(t))
		t = skip_mods(btf, btf_array(t)->type);
	return t;
}

static const struct btf_type *find_type(const struct btf *btf, const char *name)
{
	static const __u32 kinds[] = { BTF_KIND_STRUCT, BTF_KIND_UNION, BTF_KIND_ENUM,
				       BTF_KIND_TYPEDEF, BTF_KIND_INT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int id = btf__find_by_name_kind(btf, name, kinds[i]);

		if (id > 0)
			return skip_mods(btf, id);
	}
	return NULL;
}

/* How many members of the way the kernel has; -1 without the type, n when all are there. */
static int follow(const struct btf *btf, const struct field *f)
{
	const struct btf_type *t = find_type(btf, f->type);

	if (!t)
		return -1;
	for (int i = 0; i < f->n; i++) {
		t = element(btf, t);
		if (!t || !btf_is_composite(t))
			return i;
		t = find_member(btf, t, f->member[i]);
		if (!t)
			return i;
	}
	return f->n;
}

typedef int (*relo_fn)(const struct object *o, const char *section,
		       const struct bpf_core_relo *relo, void *arg);

/* Calls fn for each relocation until one returns something else than 0. */
static int each_relo(const struct object *o, relo_fn fn, void *arg)
{
	__u32 size, step;
	const char *raw = btf_ext__get_raw_data(o->ext, &size);
	const struct ext_header *h = (const void *)raw;
	const char *at = raw + h->hdr_len + h->core_relo_off, *end = at + h->core_relo_len;

	if (h->hdr_len < sizeof(*h) || !h->core_relo_len)
		return 0;
	memcpy(&step, at, sizeof(step));
	at += sizeof(step);
	while (at < end) {
		const struct ext_section *s = (const void *)at;

		for (__u32 i = 0; i < s->num_info; i++) {
			int err = fn(o, name_of(o->btf, s->sec_name_off),
				     (const void *)(s->data + i * step), arg);

			if (err)
				return err;
		}
		at += sizeof(*s) + s->num_info * step;
	}
	return 0;
}

struct guard_query {
	const struct kernel *kernel;
	const struct bpf_core_relo *relo;
	const char *section;
	const struct field *field;
	int depth;
};

/* 1 at the relocation itself, 2 at an earlier one for the same field: it has been judged there. */
static int is_earlier(const struct object *o, const char *section, const struct bpf_core_relo *relo,
		      void *arg)
{
	const struct guard_query *q = arg;

	(void)o;
	if (relo == q->relo)
		return 1;
	return relo->type_id == q->relo->type_id &&
			       relo->access_str_off == q->relo->access_str_off &&
			       relo->kind != BPF_CORE_FIELD_EXISTS &&
			       (section[0] == '?') == (q->section[0] == '?')
		       ? 2
		       : 0;
}

/* Does this kernel have the other form of the type that the object asks for? */
static int is_alternative(const struct object *o, const char *section,
			  const struct bpf_core_relo *relo, void *arg)
{
	const struct guard_query *q = arg;
	struct field f;

	(void)section;
	return relo->kind == BPF_CORE_FIELD_EXISTS && relo->type_id != q->relo->type_id &&
	       !spell(o->btf, relo, &f) && strcmp(f.type, q->field->type) == 0 &&
	       follow(q->kernel->btf, &f) == f.n;
}

/* A guard asks for the type, or for a member on the way that lies no deeper than the missing one. */
static int is_guard(const struct object *o, const char *section, const struct bpf_core_relo *relo,
		    void *arg)
{
	const struct guard_query *q = arg;
	struct field f;

	(void)section;
	if (relo->kind != BPF_CORE_FIELD_EXISTS && relo->kind != BPF_CORE_TYPE_EXISTS &&
	    relo->kind != BPF_CORE_ENUMVAL_EXISTS)
		return 0;
	if (relo->kind == BPF_CORE_FIELD_EXISTS && spell(o->btf, relo, &f))
		return 0;
	if (relo->kind != BPF_CORE_FIELD_EXISTS) {
		const struct btf_type *t = btf__type_by_id(o->btf, relo->type_id);

		essential_name(f.type, sizeof(f.type), name_of(o->btf, t->name_off));
		f.n = 0;
	}
	if (strcmp(f.type, q->field->type) != 0 || f.n > q->field->n)
		return 0;
	for (int i = 0; i < f.n; i++)
		if (strcmp(f.member[i], q->field->member[i]) != 0)
			return 0;
	return relo->kind == BPF_CORE_FIELD_EXISTS ? f.n > q->depth : q->depth < 0;
}

static void print_field(char *to, size_t size, const struct field *f)
{
	int at = snprintf(to, size, "struct %s", f->type);

	for (int i = 0; i < f->n && at < (int)size; i++)
		at += snprintf(to + at, size - at, ".%s", f->member[i]);
}

struct judging {
	const struct kernel *kernel;
	struct sums *sums;
};

static int check_field(const struct object *o, const char *section,
		       const struct bpf_core_relo *relo, void *arg)
{
	const struct judging *j = arg;
	struct guard_query q;
	struct field f;
	char text[512];

	if (relo->kind > BPF_CORE_FIELD_RSHIFT_U64 || relo->kind == BPF_CORE_FIELD_EXISTS)
		return 0;
	if (spell(o->btf, relo, &f)) {
		verdict(j->sums, false, j->kernel, section, "a relocation that cannot be read");
		return 0;
	}
	q = (struct guard_query){ j->kernel, relo, section, &f, follow(j->kernel->btf, &f) };
	if (each_relo(o, is_earlier, &q) == 2)
		return 0;
	if (q.depth < f.n &&
	    (section[0] == '?' || each_relo(o, is_guard, &q) || each_relo(o, is_alternative, &q))) {
		j->sums->optional++;
		return 0;
	}
	print_field(text, sizeof(text), &f);
	verdict(j->sums, q.depth == f.n, j->kernel, text,
		q.depth < 0 ? "no such type" : "no such field");
	return 0;
}

void check_fields(const struct object *o, const struct kernel *k, struct sums *sums)
{
	struct judging j = { k, sums };

	each_relo(o, check_field, &j);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * btfcheck OBJECT FORMS NAME=BTF...
 *
 * Holds what a BPF object asks of a kernel against the types of several kernels: every field of its
 * CO-RE relocations, every hook it attaches to and the arguments it takes there. FORMS has a line
 * "PROGRAM TYPE,TYPE,..." for each program, made from the sources, since inlining leaves no trace of
 * the arguments in the object.
 *
 * A field may be absent where the object itself asks first (bpf_core_field_exists, _type_exists) or
 * where it is read through a ___flavour and the alternative asked for is there; a hook where all its
 * programs are marked optional ('?'). Of several forms of one hook one must fit.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libbpf 1.1 declares this function by a name that it does not export. */
const void *btf_ext__get_raw_data(const struct btf_ext *btf_ext, __u32 *size);

#define MAX_PATH 32
#define MAX_FORMS 256

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

struct form {
	char program[64];
	char types[448];
};

struct object {
	struct bpf_object *bpf;
	struct btf *btf;
	struct btf_ext *ext;
	struct form forms[MAX_FORMS];
	int n_forms;
};

struct kernel {
	const char *name;
	struct btf *btf;
};

/* A relocation spelled out: the type without its ___flavour, and the members on the way. */
struct field {
	char type[128];
	const char *member[MAX_PATH];
	int n;
};

static int passed, failed, optional;

static const struct btf_type *skip_mods(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static const char *name_of(const struct btf *btf, __u32 off)
{
	const char *name = btf__name_by_offset(btf, off);

	return name ? name : "";
}

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

/* Does this kernel have the other form that the object asks for? */
static int is_alternative(const struct object *o, const char *section,
			  const struct bpf_core_relo *relo, void *arg)
{
	const struct guard_query *q = arg;
	struct field f;

	(void)section;
	return relo->kind == BPF_CORE_FIELD_EXISTS && !spell(o->btf, relo, &f) &&
	       strcmp(f.type, q->field->type) == 0 && follow(q->kernel->btf, &f) == f.n;
}

static bool is_flavour(const struct object *o, const struct bpf_core_relo *relo)
{
	const struct btf_type *t = btf__type_by_id(o->btf, relo->type_id);

	return strstr(name_of(o->btf, t->name_off), "___") != NULL;
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

static void verdict(bool good, const struct kernel *k, const char *what, const char *why)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("not ok %s: %s: %s\n", k->name, what, why);
}

static void print_field(char *to, size_t size, const struct field *f)
{
	int at = snprintf(to, size, "struct %s", f->type);

	for (int i = 0; i < f->n && at < (int)size; i++)
		at += snprintf(to + at, size - at, ".%s", f->member[i]);
}

static int check_field(const struct object *o, const char *section,
		       const struct bpf_core_relo *relo, void *arg)
{
	const struct kernel *k = arg;
	struct guard_query q;
	struct field f;
	char text[512];

	if (relo->kind > BPF_CORE_FIELD_RSHIFT_U64 || relo->kind == BPF_CORE_FIELD_EXISTS)
		return 0;
	if (spell(o->btf, relo, &f)) {
		verdict(false, k, section, "a relocation that cannot be read");
		return 0;
	}
	q = (struct guard_query){ k, relo, section, &f, follow(k->btf, &f) };
	if (each_relo(o, is_earlier, &q) == 2)
		return 0;
	if (q.depth == f.n) {
		passed++;
		return 0;
	}
	if (section[0] == '?' || each_relo(o, is_guard, &q) ||
	    (is_flavour(o, relo) && each_relo(o, is_alternative, &q))) {
		optional++;
		return 0;
	}
	print_field(text, sizeof(text), &f);
	verdict(false, k, text, q.depth < 0 ? "no such type" : f.member[q.depth]);
	return 0;
}

/* "struct task_struct*", "int" or "?": what of a type counts for an argument. */
static void print_type(char *to, size_t size, const struct btf *btf, __u32 id)
{
	const struct btf_type *t = skip_mods(btf, id);

	if (!t)
		snprintf(to, size, "void");
	else if (btf_is_ptr(t)) {
		const struct btf_type *p = t->type ? skip_mods(btf, t->type) : NULL;

		snprintf(to, size, "%s*", p ? name_of(btf, p->name_off) : "void");
	} else if (btf_is_any_enum(t) || btf_is_int(t))
		snprintf(to, size, "int");
	else
		snprintf(to, size, "%s", name_of(btf, t->name_off));
}

/* The prototype behind a hook's section name, and how many leading arguments a program skips. */
static const struct btf_type *hook_proto(const struct btf *btf, const char *section, int *skip)
{
	const char *slash = strchr(section, '/');
	const struct btf_type *t;
	char name[160];
	int id;

	*skip = 0;
	if (strncmp(section, "lsm", 3) == 0)
		snprintf(name, sizeof(name), "bpf_lsm_%s", slash + 1);
	else if (strncmp(section, "iter", 4) == 0)
		snprintf(name, sizeof(name), "bpf_iter_%s", slash + 1);
	else if (strncmp(section, "f", 1) == 0)
		snprintf(name, sizeof(name), "%s", slash + 1);
	else {
		snprintf(name, sizeof(name), "btf_trace_%s", slash + 1);
		id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
		t = id > 0 ? skip_mods(btf, id) : NULL;
		*skip = 1;
		return t && btf_is_ptr(t) ? skip_mods(btf, t->type) : NULL;
	}
	id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	return t ? btf__type_by_id(btf, t->type) : NULL;
}

/* Hooks of the cgroup and syscall kinds are named by the kernel's interface, not by its types. */
static bool hook_has_proto(const char *section)
{
	static const char *const kinds[] = { "lsm/",	"lsm.s/", "tp_btf/",  "iter/",
					     "fentry/", "fexit/", "fmod_ret/" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(section, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static const struct form *find_form(const struct object *o, const char *program)
{
	for (int i = 0; i < o->n_forms; i++)
		if (strcmp(o->forms[i].program, program) == 0)
			return &o->forms[i];
	return NULL;
}

/* An LSM program may take one argument more than the hook: the verdict so far. */
static bool form_fits(const struct btf *btf, const struct btf_type *proto, int skip,
		      const char *types, char *why, size_t size)
{
	const struct btf_param *p = btf_params(proto);
	char copy[sizeof(((struct form *)0)->types)], got[160], *rest = copy, *want;
	int i = skip;

	snprintf(copy, sizeof(copy), "%s", types);
	for (; (want = strsep(&rest, ",")); i++) {
		if (!*want || (i == btf_vlen(proto) && !rest && strcmp(want, "int") == 0))
			continue;
		if (i >= btf_vlen(proto)) {
			snprintf(why, size, "argument %d ('%s') is one too many", i - skip + 1,
				 want);
			return false;
		}
		print_type(got, sizeof(got), btf, p[i].type);
		if (strcmp(got, want) == 0 || strcmp(want, "void*") == 0)
			continue;
		snprintf(why, size, "argument %d is '%s', not '%s'", i - skip + 1, got, want);
		return false;
	}
	return true;
}

static bool program_fits(const struct object *o, const struct kernel *k,
			 const struct bpf_program *prog, char *why, size_t size)
{
	const struct form *form = find_form(o, bpf_program__name(prog));
	const struct btf_type *proto;
	int skip;

	proto = hook_proto(k->btf, bpf_program__section_name(prog), &skip);
	if (!proto) {
		snprintf(why, size, "no such hook");
		return false;
	}
	return !form || strncmp(bpf_program__section_name(prog), "iter", 4) == 0 ||
	       form_fits(k->btf, proto, skip, form->types, why, size);
}

/* Is this program the first of its hook? All forms of a hook are judged with the first. */
static bool is_first(const struct object *o, const struct bpf_program *prog)
{
	struct bpf_program *other;

	bpf_object__for_each_program(other, o->bpf) if (strcmp(bpf_program__section_name(other),
							       bpf_program__section_name(prog)) ==
							0) return other == prog;
	return true;
}

static void check_hook(const struct object *o, const struct kernel *k,
		       const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);
	bool fits = false, must = false;
	struct bpf_program *form;
	char why[256];

	bpf_object__for_each_program(form, o->bpf)
	{
		if (strcmp(bpf_program__section_name(form), section) != 0)
			continue;
		fits = fits || program_fits(o, k, form, why, sizeof(why));
		must = must || bpf_program__autoload(form);
	}
	if (!fits && !must)
		optional++;
	else
		verdict(fits, k, section, why);
}

/* Kernel functions the object calls: strong ones must exist, weak ones are asked for first. */
static void check_kfuncs(const struct object *o, const struct kernel *k)
{
	int id = btf__find_by_name_kind(o->btf, ".ksyms", BTF_KIND_DATASEC);
	const struct btf_type *sec = id > 0 ? btf__type_by_id(o->btf, id) : NULL;

	for (int i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_type *f = btf__type_by_id(o->btf, btf_var_secinfos(sec)[i].type);
		const char *name = name_of(o->btf, f->name_off);

		if (btf_is_func(f) && btf__find_by_name_kind(k->btf, name, BTF_KIND_FUNC) < 0)
			optional++, printf("# %s: no kernel function %s\n", k->name, name);
		else
			passed++;
	}
}

static void check_kernel(const struct object *o, struct kernel *k)
{
	const struct bpf_program *prog;
	struct bpf_program *at;

	each_relo(o, check_field, k);
	bpf_object__for_each_program(at, o->bpf)
	{
		prog = at;
		if (hook_has_proto(bpf_program__section_name(prog)) && is_first(o, prog))
			check_hook(o, k, prog);
	}
	check_kfuncs(o, k);
}

static int object_open(struct object *o, const char *path, const char *forms)
{
	FILE *file = fopen(forms, "r");

	if (!file) {
		fprintf(stderr, "btfcheck: cannot read '%s'\n", forms);
		return -1;
	}
	while (o->n_forms < MAX_FORMS && fscanf(file, "%63s %447s", o->forms[o->n_forms].program,
						o->forms[o->n_forms].types) == 2)
		o->n_forms++;
	fclose(file);
	o->btf = btf__parse(path, &o->ext);
	o->bpf = bpf_object__open(path);
	if (!o->btf || !o->ext || !o->bpf) {
		fprintf(stderr, "btfcheck: '%s' is not a BPF object with types\n", path);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct object o;

	if (argc < 4 || object_open(&o, argv[1], argv[2]))
		return 2;
	for (int i = 3; i < argc; i++) {
		char *path = strchr(argv[i], '=');
		struct kernel k = { .name = argv[i] };

		if (!path)
			return 2;
		*path++ = 0;
		k.btf = btf__parse(path, NULL);
		if (!k.btf) {
			fprintf(stderr, "btfcheck: '%s' holds no kernel types\n", path);
			return 2;
		}
		check_kernel(&o, &k);
		btf__free(k.btf);
	}
	printf("# %d more are optional and absent\n", optional);
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	bpf_object__close(o.bpf);
	btf_ext__free(o.ext);
	btf__free(o.btf);
	return failed || !passed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: each program's attach point must exist in the kernel, and take the arguments that the
 * program reads; kernel functions it calls must exist.
 */
#include "btfcheck.h"

#include <stdio.h>
#include <string.h>

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
		       const struct bpf_program *prog, struct sums *sums)
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
		sums->optional++;
	else
		verdict(sums, fits, k, section, why);
}

/*
 * Kernel functions the object calls. Whether one is weak is not in the types, so a missing one is
 * said, and left to the kernel tests to judge.
 */
static void check_kfuncs(const struct object *o, const struct kernel *k, struct sums *sums)
{
	int id = btf__find_by_name_kind(o->btf, ".ksyms", BTF_KIND_DATASEC);
	const struct btf_type *sec = id > 0 ? btf__type_by_id(o->btf, id) : NULL;

	for (int i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_type *f = btf__type_by_id(o->btf, btf_var_secinfos(sec)[i].type);
		const char *name = name_of(o->btf, f->name_off);

		if (!btf_is_func(f) || btf__find_by_name_kind(k->btf, name, BTF_KIND_FUNC) > 0) {
			sums->passed++;
			continue;
		}
		sums->optional++;
		printf("# %s has no kernel function %s\n", k->name, name);
	}
}

void check_hooks(const struct object *o, const struct kernel *k, struct sums *sums)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, o->bpf)
	{
		if (hook_has_proto(bpf_program__section_name(prog)) && is_first(o, prog))
			check_hook(o, k, prog, sums);
	}
	check_kfuncs(o, k, sums);
}

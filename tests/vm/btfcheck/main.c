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
 * where the type has another ___flavour whose field it asks for and finds; a hook where all its
 * programs are marked optional ('?'). Of several forms of one hook one must fit.
 */
#include "btfcheck.h"

#include <stdio.h>
#include <string.h>

const struct btf_type *skip_mods(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

const char *name_of(const struct btf *btf, __u32 off)
{
	const char *name = btf__name_by_offset(btf, off);

	return name ? name : "";
}

void verdict(struct sums *sums, bool good, const struct kernel *k, const char *what,
	     const char *why)
{
	if (good) {
		sums->passed++;
		return;
	}
	sums->failed++;
	printf("not ok %s: %s: %s\n", k->name, what, why);
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
	struct sums sums = { 0 };

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
		check_fields(&o, &k, &sums);
		check_hooks(&o, &k, &sums);
		btf__free(k.btf);
	}
	printf("# %d more are optional and absent\n", sums.optional);
	printf("%d passed, %d failed, 0 skipped\n", sums.passed, sums.failed);
	bpf_object__close(o.bpf);
	btf_ext__free(o.ext);
	btf__free(o.btf);
	return sums.failed || !sums.passed;
}

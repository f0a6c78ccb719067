/* SPDX-License-Identifier: Apache-2.0 */
#include "run/attached.h"

static const char *const not_taken_back[] = {
	"open descriptors and connections",
	"memory mappings",
	"memory charged to other control groups",
	"no Landlock, no_new_privs, seccomp filter or namespace of ours",
	"orphans whose parent had ended before",
};

json_t *attached_json(const struct result_attach *a)
{
	json_t *list, *out;

	if (!a->pid)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < sizeof(not_taken_back) / sizeof(*not_taken_back); i++)
		json_array_append_new(list, json_string(not_taken_back[i]));
	out = json_pack("{s:i, s:I, s:I, s:I, s:I, s:o}", "pid", (int)a->pid, "processes",
			(json_int_t)a->processes, "threads", (json_int_t)a->threads, "foreign",
			(json_int_t)a->foreign, "took_ns", (json_int_t)a->took_ns, "not_taken_back",
			list);
	if (out)
		json_object_set_new(out, "descriptors",
				    a->descriptors == UINT64_MAX
					    ? json_null()
					    : json_integer((json_int_t)a->descriptors));
	return out;
}

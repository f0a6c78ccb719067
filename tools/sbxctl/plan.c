/* SPDX-License-Identifier: Apache-2.0 */
/* plan: what `run` with the same arguments would enforce, and by what. Makes nothing. */
#include <string.h>

#include "policy/option.h"
#include "print.h"
#include "profile_load.h"
#include "run/meta.h"
#include "run/run.h"
#include "usage.h"

static int parse(struct spec *spec, int argc, char **argv, struct err *err)
{
	int used = 0, rc = option_parse(spec, OPTION_GROUPS_ALL, argc - 1, argv + 1, &used, err);

	if (!rc)
		rc = spec_set_command(spec, argc - 1 - used, argv + 1 + used, err);
	if (!rc)
		rc = profile_load(spec, err);
	return rc ? rc : spec_check(spec, err);
}

static int print_plan_json(const struct spec *spec, const struct result *plan)
{
	json_t *all = result_json(plan), *argv, *shown;
	size_t dropped;
	int rc;

	argv = meta_argv(spec, &dropped);
	shown = all && argv ? json_pack("{s:i, s:o, s:O, s:O, s:O}", "schema", 1, "command", argv,
					"limits", json_object_get(all, "limits"), "tier",
					json_object_get(all, "tier"), "spec_digest",
					json_object_get(all, "spec_digest"))
			    : NULL;
	rc = shown ? print_json(stdout, shown, false) : -1;
	json_decref(shown);
	json_decref(all);
	return rc;
}

static const char *origin_of(const struct spec_limit *limit)
{
	static const char *const words[] = {
		[ORIGIN_UNSET] = "",
		[ORIGIN_EXPLICIT] = "said",
		[ORIGIN_PROFILE] = "profile",
		[ORIGIN_PRESET] = "preset",
		[ORIGIN_INHERITED] = "inherited",
		[ORIGIN_WAIVED] = "waived",
	};

	return words[limit->origin];
}

static int print_limits(const struct result *plan, bool color)
{
	static const char *const heads[] = { "LIMIT", "VALUE", "FROM" };
	struct table t;
	int rc;

	table_init(&t, heads, sizeof(heads) / sizeof(*heads));
	for (int i = 0; i < LIMIT__COUNT; i++) {
		const struct spec_limit *limit = &plan->limits[i].asked;
		char text[64] = "none";

		if (limit->origin == ORIGIN_UNSET)
			continue;
		if (limit_in_force(limit))
			limit_text((enum limit_id)i, limit->value, text, sizeof(text));
		table_cell(&t, PRINT_PLAIN, "%s", limit_table[i].name);
		table_cell(&t, PRINT_PLAIN, "%s", text);
		table_cell(&t, PRINT_PLAIN, "%s%s%s", origin_of(limit),
			   limit->origin_name[0] ? " " : "", limit->origin_name);
	}
	rc = t.count ? table_print(&t, stdout, color) : 0;
	if (t.count)
		putchar('\n');
	table_done(&t);
	return rc;
}

static int print_clauses(const struct result *plan, bool color)
{
	static const char *const heads[] = { "CAPABILITY", "ENFORCED", "BY", "DETAIL" };
	struct table t;
	int rc;

	table_init(&t, heads, sizeof(heads) / sizeof(*heads));
	for (size_t i = 0; i < plan->clause_count; i++) {
		const struct tier_clause *c = &plan->clauses[i];

		table_cell(&t, PRINT_PLAIN, "%s", c->capability);
		table_cell(&t, c->enforced ? PRINT_GOOD : PRINT_DIM, c->enforced ? "yes" : "no");
		table_cell(&t, PRINT_PLAIN, "%s", c->mechanism);
		table_cell(&t, PRINT_PLAIN, "%s", c->detail);
	}
	rc = table_print(&t, stdout, color);
	table_done(&t);
	return rc;
}

static int print_plan(const struct spec *spec, const struct result *plan)
{
	const char *when = spec->color == TRI_ON    ? "always"
			   : spec->color == TRI_OFF ? "never"
						    : "auto";
	json_t *argv;
	size_t dropped;
	char line[512];
	bool color;

	if (spec->json)
		return print_plan_json(spec, plan);
	print_color_when(when, stdout, &color, NULL);
	argv = meta_argv(spec, &dropped);
	meta_command(argv, line, sizeof(line));
	json_decref(argv);
	fputs("command: ", stdout);
	print_text(stdout, line);
	printf("\ntier: %s\n\n", plan->tier_sentence);
	return print_limits(plan, color) | print_clauses(plan, color);
}

int cmd_plan(int argc, char **argv)
{
	struct err err = { 0 };
	struct result plan;
	struct spec spec;
	int rc;

	spec_init(&spec);
	result_init(&plan);
	plan.spec = &spec;
	rc = parse(&spec, argc, argv, &err);
	if (rc) {
		rc = usage_refuse_err(argv[0], &err);
	} else {
		rc = run_plan(&spec, &plan, &err);
		rc = rc ? print_err(argv[0], &err) : print_plan(&spec, &plan) ? 1 : 0;
	}
	result_done(&plan);
	spec_done(&spec);
	return rc;
}

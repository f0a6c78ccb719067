/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: what this host can enforce, tried, with the reason and the remedy where it cannot. */
#include <string.h>
#include <sys/utsname.h>

#include "args.h"
#include "base/own.h"
#include "kern/probe.h"
#include "print.h"
#include "run/sweep.h"
#include "usage.h"

#define DOCTOR_SCHEMA 1
#define MISSING_MAX 32

static const struct {
	const char *name, *sentence;
} tiers[] = {
	[PROBE_TIER_NONE] = { "none", "sbx cannot run here: see process_tracking and tree_kill" },
	[PROBE_TIER_A] = { "A", "BPF tracks, kills and can deny by label" },
	[PROBE_TIER_B] = { "B", "BPF tracks and kills; BPF LSM is not available" },
};

struct diagnosis {
	struct probe_report report;
	char *missing[MISSING_MAX]; /* of --require; point into its list */
	size_t missing_count;
};

/* "A" asks for A; "B" for B or better. */
static bool holds(const struct probe_report *r, const char *what)
{
	int capability = capability_find(what);

	if (!strcmp(what, "A"))
		return r->tier == PROBE_TIER_A;
	if (!strcmp(what, "B"))
		return r->tier != PROBE_TIER_NONE;
	return capability >= 0 && r->rows[capability].enforced;
}

static int require(struct diagnosis *d, char *list)
{
	char *save, *what = strtok_r(list, ", ", &save);

	if (!what)
		return usage_refuse("doctor", "--require needs capabilities, A or B");
	for (; what; what = strtok_r(NULL, ", ", &save))
		if (!holds(&d->report, what) && d->missing_count < MISSING_MAX)
			d->missing[d->missing_count++] = what;
	return 0;
}

static json_t *rows_json(const struct probe_report *r)
{
	json_t *rows = json_array();

	for (int i = 0; i < CAP__COUNT; i++) {
		const struct probe_row *row = &r->rows[i];

		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:b, s:b, s:b, s:s, s:s?}",
						"capability", capability_table[i].name, "mechanism",
						row->mechanism, "listed", row->listed, "attempted",
						row->attempted, "enforced", row->enforced, "detail",
						row->detail, "remedy",
						row->remedy[0] ? row->remedy : NULL));
	}
	return rows;
}

static int print_diagnosis_json(const struct diagnosis *d, const struct utsname *host)
{
	json_t *missing = json_array(), *all;
	int rc;

	for (size_t i = 0; i < d->missing_count; i++)
		json_array_append_new(missing, json_string(d->missing[i]));
	all = json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:o}", "schema", DOCTOR_SCHEMA, "tier",
			tiers[d->report.tier].name, "kernel", host->release, "machine",
			host->machine, "cgroup_driver", d->report.driver, "capabilities",
			rows_json(&d->report), "missing", missing);
	rc = all ? print_json(stdout, all, true) : -1;
	json_decref(all);
	return rc;
}

/* "no" is this host; "-" what the host could do and this build does not. */
static void add_row(struct table *t, enum capability i, const struct probe_row *row)
{
	table_cell(t, PRINT_PLAIN, "%s", capability_table[i].name);
	if (row->enforced)
		table_cell(t, PRINT_GOOD, "yes");
	else if (row->attempted)
		table_cell(t, PRINT_WARN, "-");
	else
		table_cell(t, PRINT_BAD, "no");
	table_cell(t, PRINT_PLAIN, "%s", row->mechanism);
	table_cell(t, PRINT_PLAIN, "%s", row->detail);
}

/* What helps several is said once. */
static void print_remedies(const struct probe_report *r)
{
	bool said[CAP__COUNT] = { false };

	for (int i = 0; i < CAP__COUNT; i++) {
		if (!r->rows[i].remedy[0] || said[i])
			continue;
		printf("\n%s", capability_table[i].name);
		for (int k = i + 1; k < CAP__COUNT; k++) {
			said[k] |= !strcmp(r->rows[i].remedy, r->rows[k].remedy);
			if (!strcmp(r->rows[i].remedy, r->rows[k].remedy))
				printf(", %s", capability_table[k].name);
		}
		printf(":\n    %s\n", r->rows[i].remedy);
	}
}

static int print_diagnosis(const struct diagnosis *d, const struct utsname *host, bool color)
{
	static const char *const heads[] = { "CAPABILITY", "WORKS", "BY", "TRIED" };
	const struct probe_report *r = &d->report;
	struct table t;
	int rc;

	printf("tier %s: %s\nLinux %s %s, control groups: %s\n\n", tiers[r->tier].name,
	       tiers[r->tier].sentence, host->release, host->machine, r->driver);
	table_init(&t, heads, sizeof(heads) / sizeof(*heads));
	for (int i = 0; i < CAP__COUNT; i++)
		add_row(&t, (enum capability)i, &r->rows[i]);
	rc = table_print(&t, stdout, color);
	table_done(&t);
	print_remedies(r);
	return rc;
}

static int report_missing(const struct diagnosis *d)
{
	for (size_t i = 0; i < d->missing_count; i++) {
		const char *what = d->missing[i];
		bool known = capability_find(what) >= 0 || !strcmp(what, "A") || !strcmp(what, "B");

		fprintf(stderr, "sbxctl doctor: ");
		print_text(stderr, what);
		fprintf(stderr,
			known ? ": not available here\n" : ": there is no such capability\n");
	}
	return d->missing_count ? 1 : 0;
}

static void tell(const char *what)
{
	print_progress("trying %s", what);
}

int cmd_doctor(int argc, char **argv)
{
	own_mem struct diagnosis *d = calloc(1, sizeof(*d));
	own_str list = NULL;
	struct err err = { 0 };
	struct utsname host;
	struct args a;
	bool color;
	int rc = args_parse(&a, argc, argv, 0, 0);

	if (!rc && print_color_when(args_value(&a, "--color"), stdout, &color, &err))
		rc = usage_refuse_err(argv[0], &err);
	if (rc || !d)
		return rc ? rc : 1;
	uname(&host);
	sweep_dead();
	probe_host(&d->report, tell);
	print_progress(NULL);
	if (args_given(&a, "--require")) {
		list = strdup(args_value(&a, "--require"));
		rc = list ? require(d, list) : 1;
	}
	if (rc)
		return rc;
	rc = args_given(&a, "--json") ? print_diagnosis_json(d, &host)
				      : print_diagnosis(d, &host, color);
	return report_missing(d) || rc ? 1 : 0;
}

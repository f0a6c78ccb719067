/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "policy/limit.h"

const struct limit_info limit_table[LIMIT__COUNT] = {
	[LIMIT_WALL] = { "wall", "--timeout", "ns", "time_budget", true },
	[LIMIT_IDLE] = { "idle", "--idle-timeout", "ns", "time_budget", true },
	[LIMIT_CPU_TIME] = { "cpu_time", "--cpu-time", "ns", "time_budget", true },
	[LIMIT_MEMORY] = { "memory", "--memory", "bytes", "memory_cap", true },
	[LIMIT_SWAP] = { "swap", "--swap", "bytes", "memory_cap", false },
	[LIMIT_CPUS] = { "cpus", "--cpus", "millicores", "cpu_cap", false },
	[LIMIT_PIDS] = { "pids", "--pids", "count", "pids_cap", false },
	[LIMIT_DISK] = { "disk", "--disk", "bytes", "disk_cap", false },
	[LIMIT_MAX_FILE] = { "max_file", "--max-file", "bytes", NULL, false },
	[LIMIT_NOFILE] = { "nofile", "--nofile", "count", NULL, false },
	[LIMIT_OUTPUT] = { "output", "--max-output", "bytes", "output_capture", true },
	[LIMIT_EXECS] = { "execs", "--max-execs", "count", "process_tracking", true },
	[LIMIT_DEPTH] = { "depth", "--max-depth", "count", "process_tracking", true },
};

/* DESIGN 8; 0: the preset says nothing about this limit. */
static const struct preset {
	const char *name;
	uint64_t values[LIMIT__COUNT];
} presets[] = {
	{ "strict",
	  { [LIMIT_WALL] = 1000000000ULL,
	    [LIMIT_OUTPUT] = 64 << 10,
	    [LIMIT_MEMORY] = 128 << 20,
	    [LIMIT_PIDS] = 32 } },
	{ "default",
	  { [LIMIT_WALL] = 5000000000ULL,
	    [LIMIT_OUTPUT] = 1 << 20,
	    [LIMIT_MEMORY] = 512 << 20,
	    [LIMIT_PIDS] = 128 } },
	{ "relaxed",
	  { [LIMIT_WALL] = 30000000000ULL,
	    [LIMIT_OUTPUT] = 10 << 20,
	    [LIMIT_MEMORY] = 2ULL << 30,
	    [LIMIT_PIDS] = 512 } },
	{ "none", { 0 } },
};

bool limit_in_force(const struct spec_limit *limit)
{
	return limit->origin != ORIGIN_UNSET && limit->origin != ORIGIN_WAIVED;
}

static int number(enum limit_id id, const char *text, uint64_t *value, struct err *err)
{
	const char *unit = limit_table[id].unit;

	if (!strcmp(unit, "ns"))
		return num_duration(text, value, err);
	if (!strcmp(unit, "bytes"))
		return num_size(text, value, err);
	if (!strcmp(unit, "millicores"))
		return num_cpus(text, value, err);
	return num_count(text, value, err);
}

int limit_parse(struct spec_limit *limit, enum limit_id id, const char *text, struct err *err)
{
	struct err why = { 0 };
	uint64_t value = 0;
	int r = 0;

	if (!strcmp(text, "none")) {
		*limit = (struct spec_limit){ .origin = ORIGIN_WAIVED };
		return 0;
	}

	/* No swap is a wish of its own: `--swap 0`. */
	if (id != LIMIT_SWAP || strcmp(text, "0") != 0)
		r = number(id, text, &value, &why);
	if (r == -EDOM)
		return err_say(err, ERR_VALIDATION, r, "%s; say 'none' for no limit", why.text);
	if (r < 0)
		return err_say(err, ERR_VALIDATION, r, "%s", why.text);

	*limit = (struct spec_limit){ .origin = ORIGIN_EXPLICIT, .value = value };
	return 0;
}

static const struct preset *preset_find(const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(presets[i].name, name))
			return &presets[i];
	return NULL;
}

bool limit_preset_known(const char *name)
{
	return preset_find(name);
}

const char *limit_preset_name(size_t index)
{
	return index < sizeof(presets) / sizeof(presets[0]) ? presets[index].name : NULL;
}

int limit_apply_preset(struct spec_limit limits[LIMIT__COUNT], const char *name, struct err *err)
{
	const struct preset *preset = preset_find(name);
	bool waive;

	if (!preset)
		return err_say(err, ERR_VALIDATION, -EINVAL,
			       "%s: not a preset; one of strict, default, relaxed, none", name);

	waive = !strcmp(name, "none");
	for (int id = 0; id < LIMIT__COUNT; id++) {
		struct spec_limit *limit = &limits[id];

		if (limit->origin != ORIGIN_UNSET || (!waive && !preset->values[id]))
			continue;
		limit->origin = waive ? ORIGIN_WAIVED : ORIGIN_PRESET;
		limit->value = preset->values[id];
		snprintf(limit->origin_name, sizeof(limit->origin_name), "%s", name);
	}
	return 0;
}

void limit_text(enum limit_id id, uint64_t value, char *buf, size_t size)
{
	const char *unit = limit_table[id].unit;

	if (!strcmp(unit, "ns"))
		num_duration_text(value, buf, size);
	else if (!strcmp(unit, "bytes"))
		num_size_text(value, buf, size);
	else if (!strcmp(unit, "millicores"))
		snprintf(buf, size, "%llu.%03llu CPUs", (unsigned long long)(value / 1000),
			 (unsigned long long)(value % 1000));
	else
		snprintf(buf, size, "%llu", (unsigned long long)value);
}

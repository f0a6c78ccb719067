/* SPDX-License-Identifier: Apache-2.0 */
#include "run/nest.h"

/* Steps from a row to the one around it; false at the outermost. */
static bool step_out(struct kern *k, struct sbx_sandbox *row)
{
	return row->parent && kern_sandbox_read(k, row->parent, row) == 0;
}

uint64_t nest_deadline(struct kern *k, uint64_t id)
{
	struct sbx_sandbox row;
	uint64_t first = 0;

	if (kern_sandbox_read(k, id, &row) < 0)
		return 0;
	while (step_out(k, &row))
		if (row.deadline_ns && (!first || row.deadline_ns < first))
			first = row.deadline_ns;
	return first;
}

bool nest_ends(struct kern *k, uint64_t id)
{
	struct sbx_sandbox row;

	if (kern_sandbox_read(k, id, &row) < 0)
		return false;
	while (step_out(k, &row))
		if (row.flags & (SBX_ENDING | SBX_DYING))
			return true;
	return false;
}

bool nest_orphans(struct kern *k, uint64_t id)
{
	uint64_t ids[64], count = sizeof(ids) / sizeof(ids[0]);
	struct sbx_sandbox row;

	kern_sandbox_list(k, ids, &count);
	for (size_t i = 0; i < count; i++)
		if (kern_sandbox_read(k, ids[i], &row) == 0 && row.parent == id)
			return true;
	return false;
}

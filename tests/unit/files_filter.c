/* SPDX-License-Identifier: Apache-2.0 */
/* Counters before the rows of file policies: what is counted is never said to be absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kern/files_filter.h"

#define CELL 4711

static struct sbx_fs_filter filter;

static void a_cell_counts_up_and_down(void **state)
{
	(void)state;
	files_filter_add(&filter, CELL);
	files_filter_add(&filter, CELL);
	files_filter_remove(&filter, CELL);
	assert_int_equal(filter.cells[CELL], 1);
	files_filter_remove(&filter, CELL);
	assert_int_equal(filter.cells[CELL], 0);
}

static void a_count_does_not_go_below_nothing(void **state)
{
	(void)state;
	files_filter_remove(&filter, CELL);
	assert_int_equal(filter.cells[CELL], 0);
}

/* How many there were is lost: that one is gone does not show that all are. */
static void a_full_cell_stays_full(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++)
		files_filter_add(&filter, CELL);
	for (int i = 0; i < 300; i++)
		files_filter_remove(&filter, CELL);
	assert_int_equal(filter.cells[CELL], SBX_FS_CELL_FULL);
	filter.cells[CELL] = 0;
}

static void cells_lie_within_the_filter(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t far = ~0ull - i;

		assert_true(sbx_fs_object_cell(far, (uint32_t)(i * 64)) < sizeof(filter.cells));
		assert_true(sbx_fs_entry_cell(far, 0, far * i, 31) < sizeof(filter.cells));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_counts_up_and_down),
		cmocka_unit_test(a_count_does_not_go_below_nothing),
		cmocka_unit_test(a_full_cell_stays_full),
		cmocka_unit_test(cells_lie_within_the_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

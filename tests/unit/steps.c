/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/steps.h"

static void every_pair_of_state_and_event_is_decided(void **state)
{
	(void)state;
	for (int s = 0; s < RUN_STATE__COUNT; s++)
		for (int e = 0; e < RUN_EVENT__COUNT; e++)
			assert_in_range(run_step((enum run_state)s, (enum run_event)e), 0,
					RUN_STATE__COUNT - 1);
}

static void no_event_leads_back_to_an_earlier_part_of_the_life(void **state)
{
	(void)state;
	for (int s = RUN_KILLING; s < RUN_STATE__COUNT; s++)
		for (int e = 0; e < RUN_EVENT__COUNT; e++)
			assert_true(run_step((enum run_state)s, (enum run_event)e) >=
				    (enum run_state)s);
}

static void an_end_at_once_kills_from_every_live_state(void **state)
{
	(void)state;
	for (int s = RUN_RUNNING; s <= RUN_GRACE; s++)
		assert_int_equal(run_step((enum run_state)s, EV_END_NOW), RUN_KILLING);
}

static void a_second_signal_kills(void **state)
{
	enum run_state s = run_step(RUN_RUNNING, EV_SIGNAL);

	(void)state;
	assert_int_equal(s, RUN_INTERRUPTED);
	assert_int_equal(run_step(s, EV_SIGNAL), RUN_KILLING);
}

static void a_polite_end_outlives_the_root_until_the_grace_is_over(void **state)
{
	(void)state;
	assert_int_equal(run_step(RUN_GRACE, EV_ROOT_EXIT), RUN_GRACE);
	assert_int_equal(run_step(RUN_GRACE, EV_GRACE_OVER), RUN_KILLING);
}

static void every_state_has_a_name(void **state)
{
	(void)state;
	for (int s = 0; s < RUN_STATE__COUNT; s++)
		assert_non_null(run_state_name((enum run_state)s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_of_state_and_event_is_decided),
		cmocka_unit_test(no_event_leads_back_to_an_earlier_part_of_the_life),
		cmocka_unit_test(an_end_at_once_kills_from_every_live_state),
		cmocka_unit_test(a_second_signal_kills),
		cmocka_unit_test(a_polite_end_outlives_the_root_until_the_grace_is_over),
		cmocka_unit_test(every_state_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

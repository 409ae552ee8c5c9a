/* When the user clock costs a process too much at its switches, and when it is tried again. */
#include "sampler/capture/threads/switching.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MS = 1000000, BEARABLE_A_MS = 1000000 / SWITCHING_PART / SWITCHING_NS };

/* So many ms of CPU time, with so many switches in each. True: it became too dear. */
static bool spend(struct switching *switching, int ms, uint32_t switches)
{
    bool dear = false;

    for (int i = 0; i < ms; i++)
        dear |= switching_add(switching, switches, MS);
    return dear;
}

static void a_twentieth_of_the_time_is_borne(void **state)
{
    struct switching switching = { 0 };

    (void)state;
    assert_false(spend(&switching, 1000, BEARABLE_A_MS));
    assert_false(switching_look(&switching));
}

static void more_is_not(void **state)
{
    struct switching switching = { 0 };

    (void)state;
    assert_true(spend(&switching, 1000, BEARABLE_A_MS + 1));
    assert_true(switching_turned(&switching));
    assert_true(switching_look(&switching));
    assert_true(switching.left);
    assert_false(switching_turned(&switching));
}

static void a_quarter_is_seen_within_some_ms(void **state)
{
    struct switching switching = { 0 };

    (void)state;
    assert_true(spend(&switching, 4, 6 * BEARABLE_A_MS));
}

/* A thread that only makes others, and waits for them, has a tick seldom, which tells of all its
 * switches since the last. */
static void one_tick_that_tells_of_many_is_not_the_whole(void **state)
{
    struct switching switching = { 0 };

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_false(spend(&switching, 1, 8 * BEARABLE_A_MS));
        assert_false(spend(&switching, 31, 0));
    }
}

static void those_of_short_threads_are_not_counted(void **state)
{
    struct switching switching = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        switching_forgive_short_thread(&switching);
        assert_false(spend(&switching, 1, SWITCHING_OF_SHORT_THREAD + BEARABLE_A_MS));
    }
    assert_true(spend(&switching, 1000, SWITCHING_OF_SHORT_THREAD + BEARABLE_A_MS));
}

static int looks_until_it_returns(struct switching *switching)
{
    int looks = 0;

    do
        looks++;
    while (!switching_look(switching) && looks < 10000);
    return looks;
}

static void a_calm_process_gets_its_clock_back_later_each_time(void **state)
{
    struct switching switching = { 0 };
    int first, second;

    (void)state;
    spend(&switching, 100, 100);
    switching_look(&switching);
    spend(&switching, 100, 0);
    first = looks_until_it_returns(&switching);
    spend(&switching, 100, 100);
    assert_true(switching_look(&switching));
    spend(&switching, 100, 0);
    second = looks_until_it_returns(&switching);
    assert_in_range(first, 2, 100);
    assert_in_range(second, first + 1, 10 * first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_twentieth_of_the_time_is_borne),
        cmocka_unit_test(more_is_not),
        cmocka_unit_test(a_quarter_is_seen_within_some_ms),
        cmocka_unit_test(one_tick_that_tells_of_many_is_not_the_whole),
        cmocka_unit_test(those_of_short_threads_are_not_counted),
        cmocka_unit_test(a_calm_process_gets_its_clock_back_later_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

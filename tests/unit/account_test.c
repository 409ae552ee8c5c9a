/* Which of a thread's time a sample stands for, and how often it counts. */
#include "sampler/capture/threads/account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MS = 1000000, PERIOD_US = 1000, MOST = 255 };

static uint64_t take(struct account *account, const struct cpu_times *now, bool user, bool system)
{
    uint64_t weight_ns = account_weight(account, now, user, system);

    account_count(account, now, user, system);
    return weight_ns;
}

static void user_ticks_share_user_time_and_leave_the_kernels(void **state)
{
    struct account account = { 0 };
    struct cpu_times now = { 3 * MS, 5 * MS };

    (void)state;
    assert_int_equal(take(&account, &now, true, false), 3 * MS);
    now.user_ns += MS;
    assert_int_equal(take(&account, &now, true, false), MS);
    assert_int_equal(take(&account, &now, false, true), 5 * MS);
    assert_int_equal(take(&account, &now, true, true), 0);
}

static void system_time_is_found_by_what_has_grown(void **state)
{
    const struct cpu_times before = { 10 * MS, 10 * MS }, user = { 11 * MS, 10 * MS },
                           system = { 10 * MS, 11 * MS };

    (void)state;
    assert_false(account_is_system(&before, &user));
    assert_true(account_is_system(&before, &system));
}

static void samples_count_as_their_weights_do(void **state)
{
    int64_t carry_ns = 0;
    uint32_t sum = 0;

    (void)state;
    assert_int_equal(account_periods(&carry_ns, 4 * MS, PERIOD_US, MOST), 4);
    for (int i = 0; i < 1000; i++)
        sum += account_periods(&carry_ns, MS * 3 / 2, PERIOD_US, MOST);
    assert_in_range(sum, 1499, 1501);
}

static void one_that_stands_for_too_little_is_left_out(void **state)
{
    int64_t carry_ns = 0;

    (void)state;
    assert_int_equal(account_periods(&carry_ns, MS / 4, PERIOD_US, MOST), 0);
    assert_int_equal(carry_ns, 0); /* its time is still the thread's */
    assert_int_equal(account_periods(&carry_ns, MS * 3 / 4, PERIOD_US, MOST), 1);
    assert_int_equal(carry_ns, -MS / 4);
    assert_int_equal(account_periods(&carry_ns, MS / 2, PERIOD_US, MOST), 0);
}

/* Four fifths of its ticks are the user's, of .8 ms each: the kernel's count as their time does. */
static void both_kinds_of_ticks_count_as_their_time_does(void **state)
{
    enum { ROUNDS = 1000 };
    int64_t carry_ns = 0;
    uint32_t user = 0, system = 0;
    uint64_t user_ns = 0;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < 4; j++) {
            uint32_t periods;

            user_ns += MS * 4 / 5;
            periods = account_periods(&carry_ns, user_ns, PERIOD_US, MOST);
            user_ns = periods ? 0 : user_ns;
            user += periods;
        }
        system += account_periods(&carry_ns, 4 * MS, PERIOD_US, MOST);
    }
    assert_in_range(user, 32 * ROUNDS / 10 - ROUNDS / 50, 32 * ROUNDS / 10 + ROUNDS / 50);
    assert_in_range(system, 4 * ROUNDS - ROUNDS / 50, 4 * ROUNDS + ROUNDS / 50);
}

static void more_than_fits_is_carried_on(void **state)
{
    int64_t carry_ns = 0;

    (void)state;
    assert_int_equal(account_periods(&carry_ns, 300 * (uint64_t)MS, PERIOD_US, MOST), MOST);
    assert_int_equal(account_periods(&carry_ns, MS, PERIOD_US, MOST), 300 - MOST + 1);
}

static void ticks_that_come_too_often_are_left_out(void **state)
{
    uint64_t due_ns = 0;
    int taken = 0;

    (void)state;
    for (uint64_t now = MS; now <= 1000 * (uint64_t)MS; now += MS / 4)
        taken += account_is_due(&due_ns, now, PERIOD_US);
    assert_in_range(taken, 990, 1001);
}

static void a_thread_that_comes_late_owes_no_ticks(void **state)
{
    uint64_t due_ns = 0;

    (void)state;
    assert_true(account_is_due(&due_ns, MS, PERIOD_US));
    assert_true(account_is_due(&due_ns, 50 * MS, PERIOD_US));
    assert_false(account_is_due(&due_ns, 50 * MS + MS / 2, PERIOD_US));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_ticks_share_user_time_and_leave_the_kernels),
        cmocka_unit_test(system_time_is_found_by_what_has_grown),
        cmocka_unit_test(samples_count_as_their_weights_do),
        cmocka_unit_test(one_that_stands_for_too_little_is_left_out),
        cmocka_unit_test(both_kinds_of_ticks_count_as_their_time_does),
        cmocka_unit_test(more_than_fits_is_carried_on),
        cmocka_unit_test(ticks_that_come_too_often_are_left_out),
        cmocka_unit_test(a_thread_that_comes_late_owes_no_ticks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "server/cli/deadlocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS_MAX = 8 };

/* Thread i has the tid i + 1 and waits for owners[i]; 0: for nobody. */
static uint32_t ring_of(const pid_t *owners, uint32_t count, uint32_t thread, uint32_t *ring)
{
    struct stack_thread threads[THREADS_MAX] = { { 0 } };
    const struct thread_stacks stacks = { .threads = threads, .thread_count = count };

    for (uint32_t i = 0; i < count; i++) {
        threads[i].tid = (pid_t)i + 1;
        threads[i].lock_owner = owners[i];
    }
    return deadlock_from(&stacks, thread, ring);
}

static void two_that_wait_for_each_other_are_a_ring_of_the_first(void **state)
{
    const pid_t owners[] = { 2, 1 };
    uint32_t ring[THREADS_MAX];

    (void)state;
    assert_int_equal(ring_of(owners, 2, 0, ring), 2);
    assert_int_equal(ring[0], 0);
    assert_int_equal(ring[1], 1);
    assert_int_equal(ring_of(owners, 2, 1, ring), 0);
}

static void who_waits_for_a_ring_is_not_in_it(void **state)
{
    const pid_t owners[] = { 2, 3, 4, 2 };
    uint32_t ring[THREADS_MAX];

    (void)state;
    assert_int_equal(ring_of(owners, 4, 0, ring), 0);
    assert_int_equal(ring_of(owners, 4, 1, ring), 3);
}

static void one_that_waits_for_itself_is_a_ring(void **state)
{
    const pid_t owners[] = { 0, 2 };
    uint32_t ring[THREADS_MAX];

    (void)state;
    assert_int_equal(ring_of(owners, 2, 1, ring), 1);
}

static void a_chain_with_an_end_is_none(void **state)
{
    const pid_t owners[] = { 2, 3, 0 };
    uint32_t ring[THREADS_MAX];

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(ring_of(owners, 3, i, ring), 0);
}

static void an_owner_that_is_no_thread_is_none(void **state)
{
    const pid_t owners[] = { 77 };
    uint32_t ring[THREADS_MAX];

    (void)state;
    assert_int_equal(ring_of(owners, 1, 0, ring), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_that_wait_for_each_other_are_a_ring_of_the_first),
        cmocka_unit_test(who_waits_for_a_ring_is_not_in_it),
        cmocka_unit_test(one_that_waits_for_itself_is_a_ring),
        cmocka_unit_test(a_chain_with_an_end_is_none),
        cmocka_unit_test(an_owner_that_is_no_thread_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is done before an exec, and undone after one that failed; without a sampler's thread. */
#include "sampler/capture/calls/exec_guard.h"

#include "fake_trap.h"
#include "sampler/capture/sampler.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER_TIDS = 1 << 24 }; /* beyond the kernel's */

static void on_trap(int number)
{
    (void)number;
}

/* A sampler whose ticks are traps that count in the kernel. */
static int set_up(void **state)
{
    static struct feed_header header;

    (void)state;
    memset(&sampler.threads.rests, 0, sizeof sampler.threads.rests);
    sampler.threads.rights = (struct timer_rights){ .trap = true, .trap_in_kernel = true };
    sampler.segment.header = &header;
    sampler.pid = getpid();
    atomic_store(&sampler.running, RUN_ON);
    signal(SIGTRAP, on_trap);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    signal(SIGTRAP, SIG_DFL);
    atomic_store(&sampler.running, RUN_STOPPED);
    sampler.segment.header = NULL;
    return 0;
}

static bool handles_traps(void)
{
    struct sigaction now;

    sigaction(SIGTRAP, NULL, &now);
    return now.sa_handler == on_trap;
}

static void the_threads_timer_rests_until_the_exec_has_failed(void **state)
{
    struct exec_guard guard;

    (void)state;
    exec_guard_begin(&guard);
    assert_true(rests_hold(&sampler.threads.rests, gettid()));
    assert_true(handles_traps());
    exec_guard_end(&guard);
    assert_false(rests_hold(&sampler.threads.rests, gettid()));
}

static void nobody_is_asked_where_no_trap_can_come_in_the_kernel(void **state)
{
    struct timer_rights *rights = &sampler.threads.rights;
    struct exec_guard guard;

    (void)state;
    rights->exclude_kernel = true;
    exec_guard_begin(&guard);
    assert_null(guard.rest);
    exec_guard_end(&guard);
    rights->exclude_kernel = rights->trap = false;
    exec_guard_begin(&guard);
    assert_null(guard.rest);
    exec_guard_end(&guard);
}

static void timers_from_before_root_was_given_up_still_rest(void **state)
{
    struct exec_guard guard;

    (void)state;
    sampler.threads.rights.exclude_kernel = true;
    sampler.threads.rights.kernel_traps = true;
    exec_guard_begin(&guard);
    assert_non_null(guard.rest);
    exec_guard_end(&guard);
}

static void a_vfork_child_does_not_touch_its_parents(void **state)
{
    struct exec_guard guard;

    (void)state;
    sampler.pid = getpid() + 1; /* as the child sees it */
    exec_guard_begin(&guard);
    assert_null(guard.rest);
    exec_guard_end(&guard);
}

static void without_a_place_traps_are_ignored_meanwhile(void **state)
{
    struct exec_guard guard;
    struct sigaction now;

    (void)state;
    for (int i = 0; i < RESTS_MAX; i++)
        rests_ask(&sampler.threads.rests, OTHER_TIDS + i);
    exec_guard_begin(&guard);
    assert_int_equal(sigaction(SIGTRAP, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, SIG_IGN);
    exec_guard_end(&guard);
    assert_true(handles_traps());
}

/* It would be the new program's, and stays so. */
static void a_blocked_trap_of_the_programs_own_goes_on_waiting(void **state)
{
    struct exec_guard guard;
    sigset_t traps, waiting;

    (void)state;
    sampler.threads.rights.exclude_kernel = true;
    sigemptyset(&traps);
    sigaddset(&traps, SIGTRAP);
    sigprocmask(SIG_BLOCK, &traps, NULL);
    raise(SIGTRAP);
    exec_guard_begin(&guard);
    assert_non_null(guard.rest);
    assert_int_equal(sigpending(&waiting), 0);
    assert_true(sigismember(&waiting, SIGTRAP));
    exec_guard_end(&guard);
    sigprocmask(SIG_UNBLOCK, &traps, NULL);
}

/* It would end the new program, also where no timer traps any more. */
static void a_blocked_trap_that_is_a_tick_is_forgotten(void **state)
{
    struct exec_guard guard;
    sigset_t traps, waiting;

    (void)state;
    sampler.threads.rights = (struct timer_rights){ 0 };
    sigemptyset(&traps);
    sigaddset(&traps, SIGTRAP);
    sigprocmask(SIG_BLOCK, &traps, NULL);
    assert_true(fake_trap());
    exec_guard_begin(&guard);
    sigpending(&waiting);
    exec_guard_end(&guard);
    sigprocmask(SIG_UNBLOCK, &traps, NULL);
    assert_false(sigismember(&waiting, SIGTRAP));
}

int main(void)
{
#define WITH_SAMPLER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SAMPLER(the_threads_timer_rests_until_the_exec_has_failed),
        WITH_SAMPLER(nobody_is_asked_where_no_trap_can_come_in_the_kernel),
        WITH_SAMPLER(timers_from_before_root_was_given_up_still_rest),
        WITH_SAMPLER(a_vfork_child_does_not_touch_its_parents),
        WITH_SAMPLER(without_a_place_traps_are_ignored_meanwhile),
        WITH_SAMPLER(a_blocked_trap_of_the_programs_own_goes_on_waiting),
        WITH_SAMPLER(a_blocked_trap_that_is_a_tick_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

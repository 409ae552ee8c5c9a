/* What waits when the sampler takes SIGTRAP: the program before this one may have blocked it. */
#include "sampler/capture/threads/tick_signal.h"

#include "fake_trap.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static void handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
}

static bool is_waiting(void)
{
    sigset_t waiting;

    sigpending(&waiting);
    return sigismember(&waiting, SIGTRAP);
}

static void a_waiting_trap_goes_only_if_it_is_a_tick(void **state)
{
    struct sigaction before;
    sigset_t traps;

    (void)state;
    sigemptyset(&traps);
    sigaddset(&traps, SIGTRAP);
    sigprocmask(SIG_BLOCK, &traps, NULL);
    assert_true(fake_trap());
    assert_true(is_waiting());
    tick_signal_take_trap(handler, &before);
    assert_false(is_waiting());

    raise(SIGTRAP);
    tick_signal_take_trap(handler, &before);
    assert_true(is_waiting());
    assert_int_equal(sigtimedwait(&traps, NULL, &(struct timespec){ 0, 0 }), SIGTRAP);
    sigprocmask(SIG_UNBLOCK, &traps, NULL);
    signal(SIGTRAP, SIG_DFL);
}

static void a_signal_that_the_program_handles_is_not_chosen(void **state)
{
    int first = tick_signal_choose(handler, 0), second = tick_signal_choose(handler, 0);

    (void)state;
    assert_int_equal(first, SIGURG);
    assert_int_not_equal(second, first);
    assert_true(tick_signal_ours(first, handler));
    signal(first, SIG_DFL);
    signal(second, SIG_DFL);
}

static void one_that_is_blocked_is_left_for_another(void **state)
{
    int number = tick_signal_choose(handler, UINT64_C(1) << (SIGURG - 1));

    (void)state;
    assert_int_not_equal(number, SIGURG);
    signal(number, SIG_DFL);
}

int main(void)
{
    tick_signal_use(sigaction);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_trap_goes_only_if_it_is_a_tick),
        cmocka_unit_test(a_signal_that_the_program_handles_is_not_chosen),
        cmocka_unit_test(one_that_is_blocked_is_left_for_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

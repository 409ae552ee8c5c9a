#include "sampler/capture/threads/tick_mask.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static int held, taken;

static void on_trap(int number, siginfo_t *info, void *context)
{
    if (tick_mask_hold(number, info, context))
        held++;
    else
        taken++;
}

static int setup(void **state)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

    (void)state;
    held = taken = 0;
    sigfillset(&action.sa_mask);
    return sigaction(SIGTRAP, &action, NULL);
}

static void block(const int *numbers, int count)
{
    sigset_t set;

    sigemptyset(&set);
    while (count-- > 0)
        sigaddset(&set, numbers[count]);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

static void block_all_but_traps(void)
{
    sigset_t all;

    sigfillset(&all);
    sigdelset(&all, SIGTRAP);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static bool is_waiting(void)
{
    sigset_t waiting;

    sigpending(&waiting);
    return sigismember(&waiting, SIGTRAP);
}

static void a_few_signals_are_not_all(void **state)
{
    sigset_t set;

    (void)state;
    sigemptyset(&set);
    assert_false(tick_mask_means_all(&set));
    sigaddset(&set, SIGTRAP);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    assert_false(tick_mask_means_all(&set));
    sigfillset(&set);
    assert_true(tick_mask_means_all(&set));
    sigdelset(&set, SIGTRAP);
    assert_true(tick_mask_means_all(&set));
}

static void a_trap_that_is_sent_waits_until_all_are_unblocked(void **state)
{
    (void)state;
    block_all_but_traps();
    raise(SIGTRAP);
    assert_int_equal(held, 1);
    assert_true(is_waiting());
    block(NULL, 0);
    assert_int_equal(taken, 1);
    assert_false(is_waiting());
}

static void so_does_one_for_the_whole_process(void **state)
{
    (void)state;
    block_all_but_traps();
    kill(getpid(), SIGTRAP);
    assert_int_equal(held, 1);
    assert_true(is_waiting());
    block(NULL, 0);
    assert_int_equal(taken, 1);
}

static void a_breakpoint_does_not_wait(void **state)
{
    siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_BRKPT };
    ucontext_t context;

    (void)state;
    sigfillset(&context.uc_sigmask);
    assert_false(tick_mask_hold(SIGTRAP, &info, &context));
}

static void nor_does_one_in_a_thread_that_blocks_little(void **state)
{
    (void)state;
    block((int[]){ SIGINT, SIGTERM }, 2);
    raise(SIGTRAP);
    assert_int_equal(held, 0);
    assert_int_equal(taken, 1);
    block(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_signals_are_not_all),
        cmocka_unit_test_setup(a_trap_that_is_sent_waits_until_all_are_unblocked, setup),
        cmocka_unit_test_setup(so_does_one_for_the_whole_process, setup),
        cmocka_unit_test(a_breakpoint_does_not_wait),
        cmocka_unit_test_setup(nor_does_one_in_a_thread_that_blocks_little, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

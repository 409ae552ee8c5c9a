/* What the program asked for a signal, called by a handler of ours. */
#include "sampler/capture/threads/program_action.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int runs, heard;
static siginfo_t *heard_info;
static sigset_t blocked_meanwhile;
static bool had_action;

static void note(int number)
{
    runs++;
    heard = number;
    sigprocmask(SIG_BLOCK, NULL, &blocked_meanwhile);
}

static void note_info(int number, siginfo_t *info, void *context)
{
    note(number);
    heard_info = context ? info : NULL;
}

static void ours(int number, siginfo_t *info, void *context)
{
    had_action = program_action_run(number, info, context);
}

/* As the sampler's: all else is blocked while it runs. */
static int set_up(void **state)
{
    struct sigaction action = { .sa_sigaction = ours, .sa_flags = SA_SIGINFO };

    (void)state;
    runs = heard = 0;
    heard_info = NULL;
    had_action = false;
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    program_action_forget(SIGTRAP);
    return sigaction(SIGTRAP, &action, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    program_action_forget(SIGTRAP);
    return signal(SIGTRAP, SIG_DFL) == SIG_ERR;
}

static void the_programs_handler_is_called_with_the_mask_that_it_asked_for(void **state)
{
    struct sigaction action = { .sa_handler = note };
    sigset_t after;

    (void)state;
    sigaddset(&action.sa_mask, SIGUSR1);
    program_action_set(SIGTRAP, &action);
    raise(SIGTRAP);
    assert_int_equal(runs, 1);
    assert_int_equal(heard, SIGTRAP);
    assert_int_equal(sigismember(&blocked_meanwhile, SIGUSR1), 1);
    assert_int_equal(sigismember(&blocked_meanwhile, SIGTRAP), 1);
    assert_int_equal(sigismember(&blocked_meanwhile, SIGUSR2), 0);
    sigprocmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGTRAP), 0);
}

static void a_handler_that_asks_for_it_gets_the_signals_story_and_may_nest(void **state)
{
    struct sigaction action = { .sa_sigaction = note_info, .sa_flags = SA_SIGINFO | SA_NODEFER };

    (void)state;
    program_action_set(SIGTRAP, &action);
    raise(SIGTRAP);
    assert_non_null(heard_info);
    assert_int_equal(sigismember(&blocked_meanwhile, SIGTRAP), 0);
}

static void one_for_a_single_time_is_gone_after_it(void **state)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = (int)SA_RESETHAND };

    (void)state;
    program_action_set(SIGTRAP, &action);
    raise(SIGTRAP);
    assert_true(had_action);
    raise(SIGTRAP);
    assert_false(had_action);
    assert_int_equal(runs, 1);
}

static void what_was_set_is_told_and_the_default_is_nothing_to_tell(void **state)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART }, told;

    (void)state;
    assert_false(program_action_get(SIGTRAP, &told));
    sigaddset(&action.sa_mask, SIGHUP);
    program_action_set(SIGTRAP, &action);
    assert_true(program_action_get(SIGTRAP, &told));
    assert_true(told.sa_handler == note && told.sa_flags == SA_RESTART);
    assert_int_equal(sigismember(&told.sa_mask, SIGHUP), 1);
    action.sa_handler = SIG_DFL;
    program_action_set(SIGTRAP, &action);
    assert_false(program_action_get(SIGTRAP, &told));
}

static void of_a_thousand_the_newest_holds(void **state)
{
    struct sigaction action = { .sa_handler = note };

    (void)state;
    for (int i = 0; i < 1000; i++) { /* more than are kept */
        action.sa_flags = i % 2 ? SA_NODEFER : 0;
        program_action_set(SIGTRAP, &action);
    }
    raise(SIGTRAP);
    raise(SIGTRAP);
    assert_int_equal(runs, 2);
    assert_int_equal(sigismember(&blocked_meanwhile, SIGTRAP), 0);
}

/* One is set once, as a debugger's friend does, the other again and again. */
static void what_is_set_for_another_signal_changes_nothing(void **state)
{
    struct sigaction action = { .sa_handler = note },
                     other = { .sa_sigaction = note_info, .sa_flags = SA_SIGINFO };

    (void)state;
    program_action_set(SIGTRAP, &action);
    for (int i = 0; i < 1000; i++)
        program_action_set(SIGUSR1, &other);
    raise(SIGTRAP);
    program_action_forget(SIGUSR1);
    assert_int_equal(runs, 1);
    assert_null(heard_info);
}

static _Atomic bool sets;

static void *set_one_after_the_other(void *context)
{
    struct sigaction one = { .sa_handler = note },
                     other = { .sa_sigaction = note_info, .sa_flags = SA_SIGINFO };

    (void)context;
    while (sets) {
        program_action_set(SIGTRAP, &one);
        program_action_set(SIGTRAP, &other);
    }
    return NULL;
}

static void what_is_told_is_one_action_while_another_thread_sets_them(void **state)
{
    struct sigaction told = { .sa_handler = note };
    pthread_t setter;

    (void)state;
    sets = true;
    program_action_set(SIGTRAP, &told);
    assert_int_equal(pthread_create(&setter, NULL, set_one_after_the_other, NULL), 0);
    for (int i = 0; i < 100000; i++) {
        bool got = program_action_get(SIGTRAP, &told);

        if (!got || (told.sa_sigaction == note_info) != !!(told.sa_flags & SA_SIGINFO)) {
            sets = false;
            pthread_join(setter, NULL);
            fail_msg("in round %d", i);
        }
    }
    sets = false;
    pthread_join(setter, NULL);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_programs_handler_is_called_with_the_mask_that_it_asked_for),
        IN_PLACE(a_handler_that_asks_for_it_gets_the_signals_story_and_may_nest),
        IN_PLACE(one_for_a_single_time_is_gone_after_it),
        IN_PLACE(what_was_set_is_told_and_the_default_is_nothing_to_tell),
        IN_PLACE(of_a_thousand_the_newest_holds),
        IN_PLACE(what_is_set_for_another_signal_changes_nothing),
        IN_PLACE(what_is_told_is_one_action_while_another_thread_sets_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

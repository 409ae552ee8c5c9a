/* What happens to a signal between the caller and the program. */
#include "server/run/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RUNNING .program_runs = true

static enum signal_action act(struct signal_seen seen)
{
    return signal_action(&seen);
}

#define ACT(...) act((struct signal_seen){ __VA_ARGS__ })

static void a_signal_sent_to_isoscope_reaches_the_program(void **state)
{
    static const int numbers[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGWINCH, SIGTSTP };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        assert_int_equal(ACT(.number = numbers[i], .code = SI_USER, RUNNING), SIGNAL_PASS_ON);
}

/* The terminal has sent it to the program already. */
static void a_signal_of_the_terminal_is_not_doubled(void **state)
{
    static const int numbers[] = { SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGHUP };

    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        assert_int_equal(ACT(.number = numbers[i], .code = SI_KERNEL, RUNNING), SIGNAL_DROP);
}

static void a_hangup_of_the_session_leader_is_passed_on(void **state)
{
    (void)state;
    assert_int_equal(ACT(.number = SIGHUP, .code = SI_KERNEL, RUNNING, .session_leader = true),
                     SIGNAL_PASS_ON);
    assert_int_equal(ACT(.number = SIGINT, .code = SI_KERNEL, RUNNING, .session_leader = true),
                     SIGNAL_DROP);
}

static void a_program_is_not_continued_twice(void **state)
{
    (void)state;
    assert_int_equal(ACT(.number = SIGCONT, RUNNING), SIGNAL_PASS_ON);
    assert_int_equal(ACT(.number = SIGCONT, RUNNING, .program_continued = true), SIGNAL_DROP);
}

static void after_the_program_signals_are_isoscopes_own(void **state)
{
    (void)state;
    assert_int_equal(ACT(.number = SIGINT, .code = SI_KERNEL), SIGNAL_END);
    assert_int_equal(ACT(.number = SIGTERM, .code = SI_USER), SIGNAL_END);
    assert_int_equal(ACT(.number = SIGTSTP, .code = SI_KERNEL), SIGNAL_STOP);
    assert_int_equal(ACT(.number = SIGUSR1, .code = SI_USER), SIGNAL_DROP);
}

static void what_nohup_ignores_does_not_end_the_service(void **state)
{
    (void)state;
    assert_int_equal(ACT(.number = SIGHUP, .ignored = true), SIGNAL_DROP);
    assert_int_equal(ACT(.number = SIGHUP, .code = SI_USER, RUNNING, .ignored = true),
                     SIGNAL_PASS_ON);
}

static void a_childs_signal_is_always_looked_at(void **state)
{
    (void)state;
    assert_int_equal(ACT(.number = SIGCHLD, .code = CLD_EXITED, RUNNING), SIGNAL_REAP);
    assert_int_equal(ACT(.number = SIGCHLD, .code = SI_USER), SIGNAL_REAP);
}

static void faults_of_isoscope_itself_are_not_taken(void **state)
{
    sigset_t taken;

    (void)state;
    signals_taken(&taken);
    assert_true(sigismember(&taken, SIGTERM));
    assert_true(sigismember(&taken, SIGRTMAX));
    assert_false(sigismember(&taken, SIGSEGV));
    assert_false(sigismember(&taken, SIGABRT));
    assert_false(sigismember(&taken, SIGPIPE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_sent_to_isoscope_reaches_the_program),
        cmocka_unit_test(a_signal_of_the_terminal_is_not_doubled),
        cmocka_unit_test(a_hangup_of_the_session_leader_is_passed_on),
        cmocka_unit_test(a_program_is_not_continued_twice),
        cmocka_unit_test(after_the_program_signals_are_isoscopes_own),
        cmocka_unit_test(what_nohup_ignores_does_not_end_the_service),
        cmocka_unit_test(a_childs_signal_is_always_looked_at),
        cmocka_unit_test(faults_of_isoscope_itself_are_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

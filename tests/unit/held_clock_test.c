#include "sampler/profile/held_clock.h"

#include "skip_because.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LONG_US = 1000000 };

static int perf_event(void)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.exclude_kernel = attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static pid_t sleeper(void)
{
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    return child;
}

static void a_descriptor_that_is_no_perf_event_is_closed(void **state)
{
    struct held_clock clock;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    held_clock_take(&clock, ends[0]);
    assert_int_equal(clock.fd, -1);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
    close(ends[1]);
}

static void without_a_clock_nobody_looks(void **state)
{
    struct held_clock clock;

    (void)state;
    held_clock_take(&clock, -1);
    assert_false(held_clock_look(&clock, getpid(), LONG_US));
    held_clock_drop(&clock);
}

static void one_that_is_given_up_is_closed_and_its_debugger_still_seen(void **state)
{
    struct held_clock clock;
    int fd = perf_event(), status;
    pid_t child;

    (void)state;
    if (fd < 0)
        skip_because("the kernel refuses perf events");
    child = sleeper();
    held_clock_take(&clock, fd);
    held_clock_give_up(&clock);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_false(held_clock_look(&clock, child, LONG_US));
    assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    assert_true(held_clock_look(&clock, child, 2 * LONG_US));
    assert_true(clock.traced);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

static void a_debugger_is_seen_when_it_comes_and_when_it_goes(void **state)
{
    struct held_clock clock;
    int fd = perf_event(), status;
    pid_t child;

    (void)state;
    if (fd < 0)
        skip_because("the kernel refuses perf events");
    child = sleeper();
    held_clock_take(&clock, fd);
    assert_int_equal(clock.fd, fd);
    assert_false(held_clock_look(&clock, child, LONG_US));
    assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    assert_false(held_clock_look(&clock, child, LONG_US + 1)); /* it has just looked */
    assert_true(held_clock_look(&clock, child, 2 * LONG_US));
    assert_true(clock.traced);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
    assert_true(held_clock_look(&clock, child, 3 * LONG_US));
    assert_false(clock.traced);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    held_clock_drop(&clock);
    assert_int_equal(clock.fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_that_is_no_perf_event_is_closed),
        cmocka_unit_test(without_a_clock_nobody_looks),
        cmocka_unit_test(one_that_is_given_up_is_closed_and_its_debugger_still_seen),
        cmocka_unit_test(a_debugger_is_seen_when_it_comes_and_when_it_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

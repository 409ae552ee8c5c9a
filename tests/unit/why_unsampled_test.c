#include "server/feeds/why_unsampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, FEW = 3 };

/* Its number; it has ended, or waits for a signal. few: descriptors, all of them in use. */
static pid_t child_that(bool ends, bool few)
{
    pid_t child = fork();

    if (child == 0) {
        if (few)
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){ FEW, FEW });
        if (ends)
            _exit(0);
        for (;;)
            pause();
    }
    assert_true(child > 0);
    return child;
}

static void await(pid_t child)
{
    siginfo_t info;

    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void bury(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Its descriptors are the kernel's by then, and nobody's but root's to look at. */
static void of_one_that_has_ended_nothing_is_said_of_descriptors(void **state)
{
    pid_t child = child_that(true, false);
    enum unsampled_reason reason;
    bool root = geteuid() == 0;

    (void)state;
    await(child);
    assert_true(!root || seteuid(NOBODY) == 0);
    reason = why_fork_unsampled(child);
    assert_true(!root || seteuid(0) == 0);
    assert_int_equal(reason, UNSAMPLED_NONE);
    bury(child);
}

static void one_that_has_none_left_is_told_so(void **state)
{
    pid_t child = child_that(false, true);
    enum unsampled_reason reason;

    (void)state;
    /* Until it has its limit. */
    while ((reason = why_fork_unsampled(child)) == UNSAMPLED_NONE)
        usleep(1000);
    assert_int_equal(reason, UNSAMPLED_DESCRIPTORS);
    bury(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_one_that_has_ended_nothing_is_said_of_descriptors),
        cmocka_unit_test(one_that_has_none_left_is_told_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

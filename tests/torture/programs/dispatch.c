/* Has its own system calls sent to it as a signal (prctl PR_SET_SYSCALL_USER_DISPATCH), and makes
 * none: none may come. */
#include "torture.h"

#include <linux/prctl.h>
#include <signal.h>
#include <sys/prctl.h>

static volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
static volatile int strangers;

static void on_call(int number)
{
    (void)number;
    selector = SYSCALL_DISPATCH_FILTER_ALLOW; /* the way back is a call, too */
    strangers++;
}

static volatile unsigned long result;

static void work(void)
{
    for (int i = 0; i < 30000; i++)
        result = burn(result + 1, 1000);
}

int main(void)
{
    begin();
    spin(400);
    CHECK(signal(SIGSYS, on_call) != SIG_ERR);
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) != 0)
        exit(not_here("the kernel has no user dispatch of system calls"));
    selector = SYSCALL_DISPATCH_FILTER_BLOCK;
    work();
    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
    CHECK(strangers == 0);
    CHECK(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0);
    return fine();
}

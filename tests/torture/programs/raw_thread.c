/* A thread made by clone, unknown to libc, without thread-local memory of its own. */
#include "torture.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

enum { STACK_BYTES = 65536 };

static _Atomic int stop;
static _Atomic int tid;
static volatile unsigned long turns;

HOT static int raw_spin(void *unused)
{
    unsigned long state = (unsigned long)unused + 1;

    while (!stop) {
        state = burn(state, 1000);
        turns++;
    }
    return (int)(state & 1);
}

int main(void)
{
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    char *stack = malloc(STACK_BYTES);
    int seen;

    begin();
    CHECK(stack);
    CHECK(clone(raw_spin, stack + STACK_BYTES, flags, NULL, &tid, NULL, &tid) > 0);
    spin(1500);
    stop = 1;
    while ((seen = tid) != 0)
        syscall(SYS_futex, &tid, FUTEX_WAIT, seen, NULL);
    CHECK(turns > 1000);
    free(stack);
    return fine();
}

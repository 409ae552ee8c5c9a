#include "thread_stop.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/memory.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

enum {
    STOP_MS_MAX = 200, /* a thread that the kernel keeps longer is in an uninterruptible sleep */
    ASK_US = 200,      /* ... without a pause */
    EVENT_SHIFT = 16,
};

/* Returns the signal that is to be handed on (0: none), or -errno. A thread that runs stops within microseconds, and is held until
 * that is noticed: so it is asked again and again at first. One that waits for a processor stops when it gets one. ran_ns: when it
 * was last seen not to have stopped. */
static int wait_for_stop(pid_t tid, int64_t *ran_ns)
{
    const struct timespec moment = { 0, 100 * 1000 };
    int64_t began_ns = (int64_t)clock_ns(CLOCK_MONOTONIC), now_ns = began_ns;
    int status;

    while (now_ns - began_ns < STOP_MS_MAX * INT64_C(1000000)) {
        pid_t got;

        now_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
        got = waitpid(tid, &status, __WALL | WNOHANG);
        if (got == tid && !WIFSTOPPED(status))
            return -ESRCH;
        if (got == tid)
            return status >> EVENT_SHIFT ? 0 : WSTOPSIG(status);
        if (got < 0 && errno != EINTR)
            return -ESRCH;
        *ran_ns = now_ns;
        if (now_ns - began_ns > ASK_US * INT64_C(1000))
            nanosleep(&moment, NULL);
    }
    return -ETIMEDOUT;
}

static void copy_stack(pid_t pid, const struct stack_registers *registers, struct stack_copy *copy)
{
    long got;

    copy->at = (registers->value[STACK_SP] - STACK_RED_ZONE) & ~UINT64_C(7);
    got = memory_read_some(pid, copy->bytes, copy->at, copy->room);
    copy->count = got > 0 ? (uint64_t)got : 0;
}

int thread_stop(pid_t pid, pid_t tid, struct stack_registers *out, struct stack_copy *copy,
                const struct stopped_look *look, uint64_t *stopped_ns)
{
    struct user_regs_struct registers;
    struct iovec room = { &registers, sizeof(registers) };
    int64_t ran_ns;
    int signal, problem = 0;

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
        return errno;
    ran_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return errno; /* it has ended: nothing is to be detached */
    signal = wait_for_stop(tid, &ran_ns);
    if (signal < 0)
        return -signal;
    if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &room) < 0)
        problem = errno;
    else {
        stack_registers_take(&registers, out->value, &out->call, out->arguments);
        out->known = (UINT64_C(1) << STACK_REGISTERS) - 1;
        out->thread_pointer = stack_registers_thread_pointer(&registers);
        copy_stack(pid, out, copy);
        if (look)
            look->look(look->context, out, copy);
    }
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal);
    *stopped_ns = clock_ns(CLOCK_MONOTONIC) - (uint64_t)ran_ns;
    return problem;
}

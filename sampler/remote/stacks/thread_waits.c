#include "thread_waits.h"

#include "../../profile/loops/futex_holder.h"
#include "../../profile/loops/system_calls.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Restarted by the kernel, with or without a handler's signal. Not so reads and writes: of a socket with a timeout they end
 * with EINTR, and epoll's always do. Source: signal(7), "Interruption of system calls". */
bool call_goes_on(long call)
{
    switch (call) {
    case SYS_futex:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_restart_syscall:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigsuspend:
    case SYS_flock:
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_pause:
#endif
        return true;
    default:
        return false;
    }
}

static void say_descriptor(const struct waits_target *target, struct stack_thread *thread,
                           const char *call, int descriptor)
{
    char path[64], what[128];
    ssize_t got = -1;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)target->pid, descriptor);
    if (target->pid)
        got = readlink(path, what, sizeof(what) - 1);
    what[got > 0 ? got : 0] = '\0';
    snprintf(thread->waits, sizeof(thread->waits), "%s(%d%s%s)", call, descriptor,
             what[0] ? ": " : "", what);
}

static void say_path(const struct waits_target *target, struct stack_thread *thread,
                     const char *call, uint64_t address)
{
    char path[128];
    size_t got = stack_memory_get_some(target->memory, address, path, sizeof(path) - 1);

    path[got] = '\0';
    snprintf(thread->waits, sizeof(thread->waits), "%s(%s)", call, path);
}

/* Several descriptors are for whatever comes first. */
static void say_polled(const struct waits_target *target, struct stack_thread *thread,
                       const char *call, const struct blocked *blocked)
{
    struct pollfd polled;

    if (blocked->arguments[1] == 1 &&
        stack_memory_get(target->memory, blocked->arguments[0], &polled, sizeof(polled)))
        say_descriptor(target, thread, call, polled.fd);
    else
        snprintf(thread->waits, sizeof(thread->waits), "%s", call);
}

static const struct stack_thread *thread_of(const struct thread_stacks *stacks, int32_t own_tid)
{
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        if (stacks->threads[i].own_tid == own_tid)
            return &stacks->threads[i];
    return NULL;
}

static bool read_memory(const void *context, uint64_t address, void *out, size_t bytes)
{
    const struct waits_target *target = context;

    return stack_memory_get(target->memory, address, out, bytes);
}

static bool has_thread(const void *context, int32_t tid)
{
    const struct waits_target *target = context;

    return thread_of(target->stacks, tid);
}

/* A wait with PRIVATE off whose word is a thread: pthread_join's. */
static bool is_join(const struct blocked *blocked)
{
    return (blocked->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET &&
           !(blocked->arguments[1] & FUTEX_PRIVATE_FLAG);
}

static void say_futex(const struct waits_target *target, struct stack_thread *thread,
                      const struct blocked *blocked)
{
    const struct futex_view view = { read_memory, has_thread, target };
    const struct stack_thread *holder = thread_of(target->stacks, futex_holder(&view, blocked));
    unsigned long long at = blocked->arguments[0];

    thread->lock_owner = holder ? holder->tid : 0;
    if (!holder && futex_keeps_no_holder(&view, blocked))
        snprintf(thread->waits, sizeof(thread->waits),
                 "futex(0x%llx: a mutex of musl's default type, which keeps no holder)", at);
    else if (!holder)
        snprintf(thread->waits, sizeof(thread->waits), "futex(0x%llx)", at);
    else if (holder == thread)
        snprintf(thread->waits, sizeof(thread->waits), "a lock at 0x%llx, which it holds itself",
                 at);
    else
        snprintf(thread->waits, sizeof(thread->waits), "%s at 0x%llx, %s thread %d%s%s%s",
                 is_join(blocked) ? "a join" : "a lock", at, is_join(blocked) ? "of" : "held by",
                 (int)holder->tid, holder->name[0] ? " \"" : "", holder->name,
                 holder->name[0] ? "\"" : "");
}

void thread_waits(const struct waits_target *target, struct stack_thread *thread,
                  const struct blocked *blocked)
{
    const struct system_call *call = system_call_of(blocked->number);

    thread->waits[0] = '\0';
    thread->lock_owner = 0;
    if (blocked->runs || blocked->number < 0)
        return;
    switch (call->says) {
    case CALL_SAYS_WORD:
        say_futex(target, thread, blocked);
        break;
    case CALL_SAYS_DESCRIPTOR:
        say_descriptor(target, thread, call->name, (int)blocked->arguments[0]);
        break;
    case CALL_SAYS_POLLED:
        say_polled(target, thread, call->name, blocked);
        break;
    case CALL_SAYS_PATH:
    case CALL_SAYS_PATH_AT:
        say_path(target, thread, call->name, blocked->arguments[call->says == CALL_SAYS_PATH_AT]);
        break;
    default:
        if (call->name[0])
            snprintf(thread->waits, sizeof(thread->waits), "%s", call->name);
        else
            snprintf(thread->waits, sizeof(thread->waits), "system call %ld", blocked->number);
    }
}

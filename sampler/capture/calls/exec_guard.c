#include "exec_guard.h"

#include "../../feed/sys.h"
#include "../sampler.h"

#include <signal.h>
#include <time.h>

enum { KERNEL_SIGSET_BYTES = 8, LOOK_NS = 20 * 1000 * 1000, LOOKS_MAX = 50 };

static const uint64_t trap_set = UINT64_C(1) << (SIGTRAP - 1);

/* A handler of the program's that execs too would find a rest that is half asked for. */
static uint64_t block_all(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;

    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_BYTES);
    return before;
}

static void restore(uint64_t mask)
{
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, KERNEL_SIGSET_BYTES);
}

/* The first timer may still be on its way. Who gives up root keeps the timers it has. */
static bool comes_in_kernel(const struct timer_rights *rights)
{
    return rights->kernel_traps || (rights->trap_in_kernel && !rights->exclude_kernel);
}

/* True when no tick can come any more. Without a sampler's thread there is no timer. */
static bool wait_for(struct rest *rest)
{
    const struct timespec look = { 0, LOOK_NS };

    for (int looks = 0; looks < LOOKS_MAX; looks++)
        if (!atomic_load(&sampler.thread.tid) || rests_wait(rest, &look))
            return true;
    return false;
}

static void ignore_traps(struct exec_guard *guard)
{
    const uint64_t ignore[4] = { 1 }; /* SIG_IGN */

    guard->ignores =
        sys_call4(SYS_rt_sigaction, SIGTRAP, ignore, guard->action, KERNEL_SIGSET_BYTES) == 0;
}

static void stop_ticks(struct exec_guard *guard)
{
    guard->rest = rests_ask(&sampler.threads.rests, sys_gettid());
    if (guard->rest)
        sampler_wake();
    if (!guard->rest || !wait_for(guard->rest))
        ignore_traps(guard);
}

/* Where the program blocks SIGTRAP, a tick that came before waits for the new program to unblock
 * it. One that is the program's own goes back. */
static void drop_waiting_tick(void)
{
    const struct timespec now = { 0, 0 };
    siginfo_t info;

    if (sys_call4(SYS_rt_sigtimedwait, &trap_set, &info, &now, KERNEL_SIGSET_BYTES) == SIGTRAP &&
        !timer_slot_of_trap(&info))
        sys_call4(SYS_rt_tgsigqueueinfo, sampler.pid, sys_gettid(), SIGTRAP, &info);
}

void exec_guard_begin(struct exec_guard *out)
{
    const struct timer_rights *rights = &sampler.threads.rights;
    bool blocks_traps;
    uint64_t mask;

    *out = (struct exec_guard){ 0 };
    if (!sampler_running() || !(rights->kernel_traps || (rights->trap && !rights->no_perf)))
        return;
    mask = block_all();
    blocks_traps = (mask & trap_set) != 0;
    if (comes_in_kernel(rights) || blocks_traps)
        stop_ticks(out);
    if (blocks_traps)
        drop_waiting_tick();
    restore(mask);
}

void exec_guard_end(struct exec_guard *guard)
{
    uint64_t mask;

    if (guard->ignores)
        sys_call4(SYS_rt_sigaction, SIGTRAP, guard->action, 0, KERNEL_SIGSET_BYTES);
    if (!guard->rest)
        return;
    mask = block_all();
    if (rests_end(&sampler.threads.rests, guard->rest))
        sampler_wake();
    restore(mask);
}

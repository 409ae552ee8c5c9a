#include "sampler_signals.h"

#include "handler.h"
#include "sampler.h"
#include "system/clock.h"
#include "threads/tick_signal.h"
#include "wall/wall.h"

#include "../feed/sys.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

enum {
    KERNEL_SIGSET_BYTES = 8,
    YIELD_LOOK_NS = 20 * 1000 * 1000,
    YIELD_WAIT_NS = 1000 * 1000 * 1000, /* a fork may hold what our thread waits for */
};

/* Who was waiting sees all that our thread did until it took the request back. */
static bool in_use(int number)
{
    return number == (int)atomic_load(&sampler.yielding) ||
           number == sampler.threads.signal_number ||
           (number == SIGTRAP && sampler.threads.rights.trap);
}

void sampler_drop_waiting_trap(void)
{
    const uint64_t traps = UINT64_C(1) << (SIGTRAP - 1);
    const struct timespec now = { 0, 0 };
    siginfo_t info;

    if (sys_call4(SYS_rt_sigtimedwait, &traps, &info, &now, KERNEL_SIGSET_BYTES) == SIGTRAP &&
        !timer_slot_of_trap(&info))
        sys_call4(SYS_rt_tgsigqueueinfo, sampler.pid, sys_gettid(), SIGTRAP, &info);
}

/* A tick may end a look early; another thread may be in the middle of the same, or of another. */
static bool wait_until_free(int number)
{
    const struct timespec look = { 0, YIELD_LOOK_NS };
    const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + YIELD_WAIT_NS;

    while (in_use(number) && atomic_load(&sampler.thread.tid) &&
           clock_ns(CLOCK_MONOTONIC) < until_ns) {
        uint32_t asked = 0;

        if ((int)atomic_load(&sampler.shared) == number)
            return true;

        if (atomic_compare_exchange_strong(&sampler.yielding, &asked, (uint32_t)number))
            asked = (uint32_t)number;
        sampler_wake();
        sys_futex(&sampler.yielding, FUTEX_WAIT_PRIVATE, asked, &look);
    }
    return false;
}

bool sampler_yield_signal(int number)
{
    if (!in_use(number))
        return false;
    if (wait_until_free(number))
        return true;
    if (number == SIGTRAP)
        sampler_drop_waiting_trap();
    return false;
}

/* One that somebody blocks is better than none. */
static int choose(void)
{
    int number = tick_signal_choose(handler_tick, sampler.threads.blocked);

    return number ? number : tick_signal_choose(handler_tick, 0);
}

/* Another, if there is one, where threads would not hear this one. */
static int unblocked(int number)
{
    uint64_t blocked = sampler.threads.blocked;
    int other = number && tick_signal_is_in(blocked, number)
                    ? tick_signal_choose(handler_tick, blocked)
                    : 0;

    return other ? other : number;
}

void sampler_signals_take(void)
{
    struct timer_rights *rights = &sampler.threads.rights;

    sampler.threads.blocked = tick_signal_blocked();
    sampler.threads.signal_number = choose();
    rights->trap =
        (rights->wish == FEED_TIMER_WISH_AUTO || rights->wish == FEED_TIMER_WISH_SIGTRAP) &&
        tick_signal_take_trap(handler_trap);
    rights->trap_in_kernel = tick_signal_trap_in_kernel();
}

void sampler_signals_take_over(void)
{
    sampler.threads.blocked = tick_signal_blocked();
    sampler.threads.signal_number = unblocked(sampler.threads.signal_number);
}

/* Until the last trap is gone, execs wait for it. */
static void rearm(int signal_number)
{
    threads_rearm(&sampler.threads, signal_number);
    wall_forget(&sampler.threads); /* what was asked by the old signal may never be answered */
    sampler.threads.rights.kernel_traps = false;
}

/* The program may take the signal for itself, or all of them; then it keeps what it took. Threads
 * may block it. A debugger would stop at each trap. */
void sampler_signals_keep(void)
{
    struct timer_rights *rights = &sampler.threads.rights;
    int number = sampler.threads.signal_number;
    bool trap_lost =
        rights->trap && (!tick_signal_ours(SIGTRAP, handler_trap) || tick_signal_traced());

    number = number && tick_signal_ours(number, handler_tick) ? unblocked(number) : choose();
    if (!trap_lost && number == sampler.threads.signal_number)
        return;
    if (trap_lost)
        rights->trap = false;
    rearm(number);
}

static void move_from(int number)
{
    int other = choose();

    if (other)
        rearm(other);
    else
        atomic_store(&sampler.shared, (uint32_t)number);
}

/* The program waits for it: its handler must not see a tick. */
void sampler_signals_yield(void)
{
    struct timer_rights *rights = &sampler.threads.rights;
    int number = (int)atomic_load_explicit(&sampler.yielding, memory_order_acquire);

    if (!number)
        return;
    if (number == SIGTRAP) {
        rights->trap = false;
        rearm(sampler.threads.signal_number);
    } else if (number == sampler.threads.signal_number) {
        move_from(number);
    }
    atomic_store_explicit(&sampler.yielding, 0, memory_order_release);
    sys_futex(&sampler.yielding, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

#include "sampler_signals.h"

#include "handler.h"
#include "sampler.h"
#include "threads/tick_signal.h"

#include "../feed/sys.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

enum { YIELD_WAIT_NS = 100 * 1000 * 1000 };

void sampler_yield_signal(int number)
{
    struct timespec wait = { 0, YIELD_WAIT_NS };
    uint32_t none = 0;

    if (number != sampler.threads.signal_number &&
        !(number == SIGTRAP && sampler.threads.rights.trap))
        return;
    /* Another thread may be in the middle of the same: then it is as good to wait with it. */
    atomic_compare_exchange_strong(&sampler.yielding, &none, (uint32_t)number);
    sampler_wake();
    sys_futex(&sampler.yielding, FUTEX_WAIT_PRIVATE, (uint32_t)number, &wait);
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

/* The program waits for it: its handler must not see a tick. */
void sampler_signals_yield(void)
{
    struct timer_rights *rights = &sampler.threads.rights;
    int number = (int)atomic_load_explicit(&sampler.yielding, memory_order_acquire);

    if (!number)
        return;
    if (number == SIGTRAP)
        rights->trap = false;
    rearm(number == sampler.threads.signal_number ? choose() : sampler.threads.signal_number);
    atomic_store_explicit(&sampler.yielding, 0, memory_order_release);
    sys_futex(&sampler.yielding, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

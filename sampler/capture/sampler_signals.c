#include "sampler_signals.h"

#include "handler.h"
#include "sampler.h"
#include "system/clock.h"
#include "threads/program_action.h"
#include "threads/tick_signal.h"

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

static uint64_t set_of(int number)
{
    struct sigaction action;

    return number && !program_action_get(number, &action) ? UINT64_C(1) << (number - 1) : 0;
}

uint64_t sampler_tick_signals(void)
{
    return set_of(sampler.threads.signal_number) |
           set_of(sampler.threads.rights.trap ? SIGTRAP : 0);
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
    return wait_until_free(number);
}

/* One that the calling thread blocks is better than none. */
static int choose(uint64_t blocked)
{
    int number = tick_signal_choose(handler_tick, blocked);

    return number ? number : tick_signal_choose(handler_tick, 0);
}

void sampler_signals_take(void)
{
    struct clock_rights *rights = &sampler.threads.rights;
    struct sigaction before;

    sampler.threads.signal_number = choose(tick_signal_blocked());
    if (rights->wish != FEED_TIMER_WISH_AUTO)
        return;
    rights->no_trap = (uint8_t)tick_signal_take_trap(handler_trap, &before);
    rights->trap = rights->no_trap == FEED_TIMER_REASON_NONE;
    if (rights->trap && before.sa_sigaction != handler_trap)
        program_action_set(SIGTRAP, &before);
}

static void give_trap_up(void)
{
    sampler.threads.rights.trap = false;
    sampler.threads.rights.no_trap = FEED_TIMER_REASON_SIGNAL;
}

/* The program may take the signal for itself, or all of them; then it keeps what it took. */
void sampler_signals_keep(void)
{
    struct clock_rights *rights = &sampler.threads.rights;
    int number = sampler.threads.signal_number;

    if (rights->trap && !tick_signal_ours(SIGTRAP, handler_trap))
        give_trap_up();
    if (!number || !tick_signal_ours(number, handler_tick))
        number = choose(0);
    if (!rights->trap || number != sampler.threads.signal_number)
        threads_rearm(&sampler.threads, number);
}

static void move_from(int number)
{
    int other = choose(0);

    if (other)
        threads_rearm(&sampler.threads, other);
    else
        atomic_store(&sampler.shared, (uint32_t)number);
}

/* The program waits for it: its handler must not see a tick. */
void sampler_signals_yield(void)
{
    int number = (int)atomic_load_explicit(&sampler.yielding, memory_order_acquire);

    if (!number)
        return;
    if (number == SIGTRAP) {
        give_trap_up();
        threads_rearm(&sampler.threads, sampler.threads.signal_number);
    } else if (number == sampler.threads.signal_number) {
        move_from(number);
    }
    atomic_store_explicit(&sampler.yielding, 0, memory_order_release);
    sys_futex(&sampler.yielding, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

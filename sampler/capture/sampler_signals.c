#include "sampler_signals.h"

#include "sampler_state.h"
#include "threads/program_action.h"
#include "threads/tick_signal.h"

#include <signal.h>

static void (*on_tick)(int, siginfo_t *, void *);
static void (*on_trap)(int, siginfo_t *, void *);

bool sampler_uses_signal(int number)
{
    return number == sampler.threads.signal_number ||
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

/* One that the calling thread blocks is better than none. */
static SIGNAL_SAFE int choose(uint64_t blocked)
{
    int number = tick_signal_choose(on_tick, blocked);

    return number ? number : tick_signal_choose(on_tick, 0);
}

/* That of an earlier start is still ours. */
static int keep_or_choose(uint64_t blocked)
{
    int number = sampler.threads.signal_number, other;
    bool ours = number && tick_signal_ours(number, on_tick);

    if (ours && !tick_signal_is_in(blocked, number))
        return number;
    other = choose(blocked);
    return other || !ours ? other : number;
}

void sampler_signals_take(void (*tick)(int, siginfo_t *, void *),
                          void (*trap)(int, siginfo_t *, void *))
{
    struct clock_rights *rights = &sampler.threads.rights;
    bool first = !on_trap; /* nothing is kept yet: to look costs a page */
    struct sigaction before;

    on_tick = tick;
    on_trap = trap;
    sampler.threads.signal_number = keep_or_choose(tick_signal_blocked());
    if (rights->wish != FEED_TIMER_WISH_AUTO)
        return;
    rights->no_trap = (uint8_t)tick_signal_take_trap(on_trap, &before);
    rights->trap = rights->no_trap == FEED_TIMER_REASON_NONE;
    if (rights->trap && before.sa_sigaction != on_trap && !(first && before.sa_handler == SIG_DFL))
        program_action_set(SIGTRAP, &before);
}

static SIGNAL_SAFE void give_trap_up(void)
{
    sampler.threads.rights.trap = false;
    sampler.threads.rights.no_trap = FEED_TIMER_REASON_SIGNAL;
}

/* The program may take the signal for itself, or all of them; then it keeps what it took. */
void sampler_signals_keep(void)
{
    struct clock_rights *rights = &sampler.threads.rights;
    int number = sampler.threads.signal_number;

    if (rights->trap && !tick_signal_ours(SIGTRAP, on_trap))
        give_trap_up();
    if (!number || !tick_signal_ours(number, on_tick))
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

/* With the lock. */
static void give_up(int number)
{
    if (number == SIGTRAP) {
        give_trap_up();
        threads_report(&sampler.threads);
    } else {
        move_from(number);
    }
}

bool sampler_yield_signal(int number)
{
    uint64_t mask;

    if (!sampler_uses_signal(number))
        return false;
    if ((int)atomic_load(&sampler.shared) == number || !sampler_lock(&mask))
        return true;
    if (sampler_uses_signal(number)) /* another thread may have been here */
        give_up(number);
    sampler_unlock_to(&mask);
    if (number == SIGTRAP)
        sampler_await_clock_stop();
    return (int)atomic_load(&sampler.shared) == number;
}

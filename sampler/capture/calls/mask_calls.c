/*
 * mask_calls.c - sigprocmask and pthread_sigmask: who blocks all signals does not block those of
 * ticks (tick_mask.h). The program sees the mask that it has set. sigpending: and no tick.
 */
#include "preload.h"

#include "../../include/isoscope/isoscope.h"
#include "../sampler_signals.h"
#include "../sampler_state.h"
#include "../threads/tick_mask.h"
#include "../threads/tick_signal.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

typedef int mask_call(int, const sigset_t *, sigset_t *);

static mask_call *next_sigprocmask;
static mask_call *next_pthread_sigmask;
static int (*next_sigpending)(sigset_t *);

/* A child of vfork has no ticks. */
static bool has_ticks(const sigset_t *set)
{
    return tick_mask_means_all(set) && sampler_has_ticks();
}

static int set_mask(mask_call *next, int how, const sigset_t *set, sigset_t *before)
{
    sigset_t told;
    int result;

    if (set && how != SIG_UNBLOCK && has_ticks(set)) {
        told = *set;
        tick_mask_remove(&told, sampler_tick_signals());
        set = &told;
    }
    result = next(how, set, before);
    if (result == 0 && before && has_ticks(before))
        tick_mask_add(before, sampler_tick_signals());
    return result;
}

/* Who blocks a few signals, those of ticks among them, has ticks waiting. */
static void leave_ticks_out(sigset_t *waiting)
{
    const int numbers[] = { SIGTRAP, sampler.threads.signal_number };

    for (int i = 0; i < 2; i++)
        if (numbers[i] && sigismember(waiting, numbers[i]) == 1 &&
            !tick_signal_forget_waiting(numbers[i]))
            sigdelset(waiting, numbers[i]);
}

ISOSCOPE_API int sigpending(sigset_t *set)
{
    int result;

    FIND_NEXT(sigpending);
    result = NEXT(sigpending)(set);
    if (result == 0 && sampler_has_ticks())
        leave_ticks_out(set);
    return result;
}

ISOSCOPE_API int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    FIND_NEXT(sigprocmask);
    return set_mask(NEXT(sigprocmask), how, set, before);
}

ISOSCOPE_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    FIND_NEXT(pthread_sigmask);
    return set_mask(NEXT(pthread_sigmask), how, set, before);
}

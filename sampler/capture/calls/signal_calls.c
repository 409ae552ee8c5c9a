/*
 * signal_calls.c - the program's own signal calls, where they would meet our ticks.
 *
 * A program that waits for all signals (sigwait, signalfd) would be woken by a tick as if somebody
 * had sent it; here ticks are passed over. One that takes our signal gets it: the sampler moves to
 * another before the call is carried out, and our handler never shows as the one before.
 */
#include "preload.h"

#include "../../feed/layout.h"
#include "../../include/isoscope/isoscope.h"
#include "../handler.h"
#include "../sampler.h"
#include "../system/clock.h"
#include "../threads/tick_signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

/* So many signals in a set mean "all", not "this one of all". */
enum { ALL_SIGNALS_MIN = 20, SIGNALS = 64 };

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static sighandler_t (*next_signal)(int, sighandler_t);
static int (*next_sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
static int (*next_signalfd)(int, const sigset_t *, int);

void preload_find_signal_calls(void)
{
    FIND_NEXT(sigaction);
    FIND_NEXT(signal);
    FIND_NEXT(sigtimedwait);
    FIND_NEXT(signalfd);
    tick_signal_use(NEXT(sigaction)); /* not our own wrapper */
}

static bool is_tick(const siginfo_t *info)
{
    if (!sampler_running())
        return false;
    if (info->si_signo == SIGTRAP)
        return timer_slot_of_trap(info) != 0;
    return info->si_signo == sampler.threads.signal_number &&
           threads_slot_of_tick(&sampler.threads, info) != 0;
}

/* What is left of the time to wait. */
static struct timespec left_until(uint64_t deadline_ns)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

    return (struct timespec){ (time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u) };
}

ISOSCOPE_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    uint64_t deadline_ns = 0;
    struct timespec left;
    siginfo_t found;
    int number;

    FIND_NEXT(sigtimedwait);
    if (timeout)
        deadline_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout->tv_sec * 1000000000u +
                      (uint64_t)timeout->tv_nsec;
    left = timeout ? *timeout : (struct timespec){ 0 };
    while ((number = NEXT(sigtimedwait)(set, &found, timeout ? &left : NULL)) > 0 &&
           is_tick(&found))
        left = left_until(deadline_ns);
    if (number > 0 && info)
        *info = found;
    return number;
}

ISOSCOPE_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

ISOSCOPE_API int sigwait(const sigset_t *set, int *number)
{
    int before = errno, found;

    do
        found = sigtimedwait(set, NULL, NULL);
    while (found < 0 && errno == EINTR);
    if (found < 0) {
        found = errno;
        errno = before;
        return found;
    }
    *number = found;
    return 0;
}

static bool means_all(const sigset_t *set)
{
    int count = 0;

    for (int number = 1; number <= SIGNALS; number++)
        count += sigismember(set, number) == 1;
    return count >= ALL_SIGNALS_MIN;
}

/* What is read from it cannot be passed over here, so the signals of ticks are left out. */
ISOSCOPE_API int signalfd(int fd, const sigset_t *mask, int flags)
{
    sigset_t without;

    FIND_NEXT(signalfd);
    if (!sampler_running() || !means_all(mask))
        return NEXT(signalfd)(fd, mask, flags);
    without = *mask;
    sigdelset(&without, sampler.threads.signal_number);
    if (sampler.threads.rights.trap)
        sigdelset(&without, SIGTRAP);
    return NEXT(signalfd)(fd, &without, flags);
}

/* SIGURG does nothing by default, nor with our handler: then there is nothing to give up. */
static bool stays_ours(int number, sighandler_t handler)
{
    return number == SIGURG && number == sampler.threads.signal_number &&
           (handler == SIG_DFL || handler == SIG_IGN);
}

static bool is_our_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) &&
           (action->sa_sigaction == handler_tick || action->sa_sigaction == handler_trap);
}

static void hide_our_handler(struct sigaction *action)
{
    if (!action || !is_our_handler(action))
        return;
    memset(action, 0, sizeof *action);
    action->sa_handler = SIG_DFL;
}

ISOSCOPE_API int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    int result;

    FIND_NEXT(sigaction);
    if (action && sampler_running()) {
        if (stays_ours(number, action->sa_handler))
            action = NULL;
        else
            sampler_yield_signal(number);
    }
    result = NEXT(sigaction)(number, action, before);
    if (result == 0)
        hide_our_handler(before);
    return result;
}

ISOSCOPE_API sighandler_t signal(int number, sighandler_t handler)
{
    sighandler_t before;

    FIND_NEXT(signal);
    if (sampler_running()) {
        if (stays_ours(number, handler))
            return SIG_DFL;
        sampler_yield_signal(number);
    }
    before = NEXT(signal)(number, handler);
    return before == (sighandler_t)(void *)handler_tick ||
                   before == (sighandler_t)(void *)handler_trap
               ? SIG_DFL
               : before;
}

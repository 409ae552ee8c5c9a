/*
 * signal_calls.c - the program's own signal calls, where they would meet our ticks.
 *
 * A program that waits for all signals (sigwait, signalfd) would be woken by a tick as if somebody
 * had sent it; here ticks are passed over. One that takes our signal gets it: the sampler moves to
 * another before the call is carried out, or, where a tick can be told from the program's own
 * (SIGTRAP) or there is no other, our handler calls the program's. It never shows as the one
 * before. One that
 * asks for the default keeps our handler, which does what the default does: a tick that waits
 * (blocked, as between fork and exec in git) would end the program there.
 *
 * SIGSEGV and SIGBUS are the program's. Where our handler is in force for them (fault_handler.h) it
 * takes over the flags and the mask of the program's own, which it calls, and which is what shows.
 */
#include "preload.h"

#include "../../feed/layout.h"
#include "../../include/isoscope/isoscope.h"
#include "../fault_handler.h"
#include "../handler.h"
#include "../forked.h"
#include "../sampler_signals.h"
#include "../sampler_state.h"
#include "../system/clock.h"
#include "../threads/program_action.h"
#include "../threads/tick_mask.h"
#include "../threads/tick_signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static sighandler_t (*next_signal)(int, sighandler_t);
static sighandler_t (*next_ssignal)(int, sighandler_t);
static sighandler_t (*next_bsd_signal)(int, sighandler_t);
static sighandler_t (*next_sysv_signal)(int, sighandler_t);
static sighandler_t (*next___sysv_signal)(int, sighandler_t);
static int (*next_sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
static int (*next_signalfd)(int, const sigset_t *, int);

void preload_find_signal_calls(void)
{
    FIND_NEXT(sigaction);
    FIND_NEXT(signal);
    tick_signal_use(NEXT(sigaction)); /* not our own wrapper */
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
           tick_signal_is_tick(&found))
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

/* What is read from it cannot be passed over here, so the signals of ticks are left out. */
ISOSCOPE_API int signalfd(int fd, const sigset_t *mask, int flags)
{
    sigset_t without;

    FIND_NEXT(signalfd);
    if (!sampler_has_ticks() || !tick_mask_means_all(mask))
        return NEXT(signalfd)(fd, mask, flags);
    without = *mask;
    sigdelset(&without, sampler.threads.signal_number);
    if (sampler.threads.rights.trap)
        sigdelset(&without, SIGTRAP);
    return NEXT(signalfd)(fd, &without, flags);
}

static bool is_our_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) &&
           (action->sa_sigaction == handler_tick || action->sa_sigaction == handler_trap ||
            action->sa_sigaction == handler_fault);
}

/* SIGURG does nothing by default, nor with our handler: ignored is no different. Whether the
 * sampler runs does not matter: a tick of before may wait. */
static bool stays_ours(int number, sighandler_t handler)
{
    struct sigaction now;

    return (handler == SIG_DFL || (handler == SIG_IGN && number == SIGURG)) &&
           NEXT(sigaction)(number, NULL, &now) == 0 && is_our_handler(&now);
}

static void hide_our_handler(int number, struct sigaction *action)
{
    if (!action || !is_our_handler(action) || program_action_get(number, action))
        return;
    memset(action, 0, sizeof *action);
    action->sa_handler = SIG_DFL;
}

/* A child of vfork writes into its parent's memory, and has a table of signals of its own. */
static bool is_sampled_process(void)
{
    return sampler.pid == (int32_t)getpid();
}

/* What becomes of a call that sets a signal's action. */
enum course {
    PASS_ON,
    KEEP_OURS, /* our handler does what the default does */
    SHARE,     /* our handler calls the program's */
    SHARE_AS,  /* it does, with the program's flags and mask */
};

static bool is_ours(int number)
{
    struct sigaction now;

    return NEXT(sigaction)(number, NULL, &now) == 0 && is_our_handler(&now);
}

static enum course course_of(int number, sighandler_t handler)
{
    bool handles = handler != SIG_DFL && handler != SIG_IGN;

    if (fault_handler_is_for(number))
        return handles && is_sampled_process() && is_ours(number) ? SHARE_AS : PASS_ON;
    if (!tick_signal_may_be(number)) /* shells set all signals in each child */
        return PASS_ON;
    if (stays_ours(number, handler))
        return KEEP_OURS;
    if (handles && number == SIGTRAP && is_sampled_process() && is_ours(number))
        return SHARE;
    if (!sampler_has_ticks() || !sampler_uses_signal(number))
        return PASS_ON;
    forked_settle();
    return sampler_has_ticks() && sampler_yield_signal(number) && handles ? SHARE : PASS_ON;
}

/* For the program's action, which is kept before it can be run. */
static void share_as(int number, const struct sigaction *wanted)
{
    struct sigaction ours = *wanted;

    program_action_set(number, wanted);
    ours.sa_sigaction = handler_fault;
    ours.sa_flags = (wanted->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    NEXT(sigaction)(number, &ours, NULL);
}

/* Of a signal that our handler is not in force for nothing is forgotten: a tick may put it there just
 * now, and keep what it finds. */
static void keep_fault_action(int number, const struct sigaction *wanted, enum course course)
{
    if (course == SHARE_AS)
        share_as(number, wanted);
    else
        fault_handler_left();
}

static void keep_program_action(int number, const struct sigaction *wanted, enum course course)
{
    if (!is_sampled_process())
        return;
    if (fault_handler_is_for(number))
        keep_fault_action(number, wanted, course);
    else if (course == SHARE)
        program_action_set(number, wanted);
    else if (tick_signal_may_be(number))
        program_action_forget(number);
}

static bool uses_alternate_stack(const struct sigaction *action)
{
    return (action->sa_flags & SA_ONSTACK) && action->sa_handler != SIG_DFL &&
           action->sa_handler != SIG_IGN && (!sampler.pid || is_sampled_process());
}

/* Our handlers, which are there, as those to come. */
static void follow_onto_alternate_stack(void)
{
    struct sigaction now;

    if (!tick_signal_leave_stack())
        return;
    for (int number = 1; number < NSIG; number++)
        if (!fault_handler_is_for(number) && NEXT(sigaction)(number, NULL, &now) == 0 &&
            is_our_handler(&now)) {
            now.sa_flags |= SA_ONSTACK;
            NEXT(sigaction)(number, &now, NULL);
        }
}

ISOSCOPE_API int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction wanted;
    enum course course = PASS_ON;
    int result;

    FIND_NEXT(sigaction);
    if (action) {
        wanted = *action; /* it may lie where before does */
        if (uses_alternate_stack(&wanted))
            follow_onto_alternate_stack();
        course = course_of(number, wanted.sa_handler);
    }
    result = NEXT(sigaction)(number, action && course == PASS_ON ? &wanted : NULL, before);
    if (result < 0)
        return result;
    hide_our_handler(number, before);
    if (action)
        keep_program_action(number, &wanted, course);
    return 0;
}

/* Of signal() and its other names; a program in strict ISO C calls __sysv_signal. flags: of the
 * action that the name stands for. */
static sighandler_t change(sighandler_t (*next)(int, sighandler_t), int number,
                           sighandler_t handler, int flags)
{
    struct sigaction wanted = { .sa_handler = handler, .sa_flags = flags };
    struct sigaction before = { .sa_handler = SIG_DFL };
    enum course course;

    FIND_NEXT(sigaction);
    course = course_of(number, handler);
    if (NEXT(sigaction)(number, NULL, &before) == 0)
        hide_our_handler(number, &before);
    if (course == PASS_ON && next(number, handler) == SIG_ERR)
        return SIG_ERR;
    keep_program_action(number, &wanted, course);
    return before.sa_handler;
}

#define SIGNAL_CALL(name, flags)                                                                   \
    sighandler_t name(int number, sighandler_t handler);                                           \
    ISOSCOPE_API sighandler_t name(int number, sighandler_t handler)                               \
    {                                                                                              \
        FIND_NEXT(name);                                                                           \
        return change(NEXT(name), number, handler, flags);                                         \
    }

SIGNAL_CALL(signal, SA_RESTART)
SIGNAL_CALL(ssignal, SA_RESTART)
SIGNAL_CALL(bsd_signal, SA_RESTART)
SIGNAL_CALL(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SIGNAL_CALL(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))

/* System V's, which libc makes of calls within itself. */
ISOSCOPE_API int sigignore(int number)
{
    const struct sigaction ignored = { .sa_handler = SIG_IGN };

    return sigaction(number, &ignored, NULL);
}

ISOSCOPE_API sighandler_t sigset(int number, sighandler_t handler)
{
    const struct sigaction wanted = { .sa_handler = handler };
    bool holds = handler == SIG_HOLD;
    struct sigaction before;
    sigset_t itself, mask;

    sigemptyset(&itself);
    if (sigaddset(&itself, number) < 0 || sigaction(number, holds ? NULL : &wanted, &before) < 0 ||
        sigprocmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &itself, &mask) < 0)
        return SIG_ERR;
    return sigismember(&mask, number) == 1 ? SIG_HOLD : before.sa_handler;
}

#include "tick_signal.h"

#include "cpu_timer.h"
#include "tracer.h"
#include "fault_event.h"
#include "user_clock.h"

#include "../../feed/sys.h"
#include "../system/glibc.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { WAITING_MAX = 4 }; /* of one signal: a tick, another to the thread, one to the process */

static const int candidates[] = {
    SIGURG,
#ifdef SIGSTKFLT
    SIGSTKFLT, /* nothing in Linux sends it */
#endif
    SIGPROF,
};

bool tick_signal_may_be(int number)
{
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] == number)
            return true;
    return number == SIGTRAP;
}

/* Not named here: in the program a wrapper of ours, which calls us, stands in its place. */
static int (*call_sigaction)(int, const struct sigaction *, struct sigaction *);

void tick_signal_use(int (*call)(int, const struct sigaction *, struct sigaction *))
{
    call_sigaction = call;
}

bool tick_signal_action(int number, const struct sigaction *action, struct sigaction *before)
{
    return call_sigaction(number, action, before) == 0;
}

static _Atomic bool on_alternate_stack;

bool tick_signal_leave_stack(void)
{
    return !atomic_exchange(&on_alternate_stack, true);
}

static SIGNAL_SAFE bool install(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (atomic_load(&on_alternate_stack) ? SA_ONSTACK : 0);
    /* All of them, libc's own too: a cancellation that unwinds out of our handler, or a handler
     * that jumps out of it, would leave us counted in for ever. sigfillset leaves libc's out. */
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    return call_sigaction(number, &action, NULL) == 0;
}

int tick_signal_choose(void (*handler)(int, siginfo_t *, void *), uint64_t blocked)
{
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        struct sigaction now;

        if (!tick_signal_is_in(blocked, candidates[i]) &&
            call_sigaction(candidates[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
            install(candidates[i], handler))
            return candidates[i];
    }
    return 0;
}

uint64_t tick_signal_blocked(void)
{
    uint64_t mask = 0;

    sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    return mask;
}

bool tick_signal_ours(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction now;

    return call_sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == handler;
}

static int take_number(const char **at)
{
    int value = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++)
        value = value * 10 + (**at - '0');
    return value;
}

static bool kernel_is_at_least(int major, int minor)
{
    struct utsname name;
    const char *at = name.release;
    int its_major;

    if (sys_call1(SYS_uname, &name) < 0)
        return false;
    its_major = take_number(&at);
    if (*at == '.')
        at++;
    return its_major > major || (its_major == major && take_number(&at) >= minor);
}

/* One that needs no library makes its system calls itself (Go's, without cgo). */
static bool program_calls_libc(void)
{
    for (const ElfW(Dyn) *entry = _r_debug.r_map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED)
            return true;
    return false;
}

bool tick_signal_is_tick(const siginfo_t *info)
{
    if (info->si_signo == SIGTRAP)
        return user_clock_of_trap(info) || fault_event_of_trap(info);
    return cpu_timer_is_tick(info);
}

/* Sent to the whole process it is for any thread that takes it. */
bool tick_signal_send_again(const siginfo_t *info)
{
    long process = sys_call0(SYS_getpid);

    if (info->si_code == SI_TKILL || info->si_code > 0)
        return sys_call4(SYS_rt_tgsigqueueinfo, process, sys_gettid(), info->si_signo, info) == 0;
    return sys_call3(SYS_rt_sigqueueinfo, process, info->si_signo, info) == 0;
}

bool tick_signal_forget_waiting(int number)
{
    const uint64_t set = UINT64_C(1) << (number - 1);
    const struct timespec now = { 0, 0 };
    siginfo_t info;

    for (int i = 0; i < WAITING_MAX; i++) {
        if (sys_call4(SYS_rt_sigtimedwait, &set, &info, &now, sizeof set) != number)
            return false;
        if (!tick_signal_is_tick(&info))
            return tick_signal_send_again(&info);
    }
    return false;
}

enum feed_timer_reason tick_signal_take_trap(void (*handler)(int, siginfo_t *, void *),
                                             struct sigaction *before)
{
    /* The program before this one blocked it, and so does this one: unblocked it would end it. */
    tick_signal_forget_waiting(SIGTRAP);
    if (!kernel_is_at_least(5, 18))
        return FEED_TIMER_REASON_KERNEL;
    if (tracer_is_attached())
        return FEED_TIMER_REASON_TRACED;
    return program_calls_libc() && call_sigaction(SIGTRAP, NULL, before) == 0 &&
                   before->sa_handler != SIG_IGN && install(SIGTRAP, handler)
               ? FEED_TIMER_REASON_NONE
               : FEED_TIMER_REASON_SIGNAL;
}

void tick_signal_default(int number)
{
    /* The kernel's sigaction is all zeros for the default; 8 bytes of signal set. */
    const uint64_t kernel_default[4] = { 0 };

    sys_call4(SYS_rt_sigaction, number, kernel_default, 0, 8);
    /* Blocked while the handler runs; it arrives as the handler returns. */
    sys_call3(SYS_tgkill, sys_call0(SYS_getpid), sys_gettid(), number);
}

/*
 * sandbox_calls.c - the program's calls after which a tick could do harm, or would lead nowhere.
 *
 * Before a seccomp filter comes, or user dispatch of system calls, sampling of the process ends:
 * neither meets a system call of ours. Who forbids the processor's counter (PR_SET_TSC) is believed, and who names a tracer
 * (PR_SET_PTRACER) keeps it. setns may change what / is.
 */
#include "loop_calls.h"
#include "loop_waits.h"
#include "preload.h"
#include "uring_waits.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../forked.h"
#include "../reader_permit.h"
#include "../sampler.h"
#include "../sampler_state.h"
#include "../system/clock.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/* Without a filter seccomp is a question, which libseccomp asks. User dispatch sends the thread's
 * system calls to its own handler, as emulators do. */
static bool locks_in(long number, long first, long second, long third)
{
    if (number == SYS_prctl && first == PR_SET_SYSCALL_USER_DISPATCH)
        return second == PR_SYS_DISPATCH_ON;
    if (number == SYS_prctl)
        return first == PR_SET_SECCOMP && (second == SECCOMP_MODE_STRICT || third);
    return number == SYS_seccomp &&
           (first == SECCOMP_SET_MODE_STRICT || (first == SECCOMP_SET_MODE_FILTER && third));
}

/* The feed's socket is another user's then, or not there. */
static bool gives_rights_up(long number)
{
    return number == SYS_setuid || number == SYS_setreuid || number == SYS_setresuid ||
           number == SYS_setns || number == SYS_unshare || number == SYS_chroot ||
           number == SYS_pivot_root;
}

/* What is named last counts: a forked child names the service before its program names another. */
static void name_tracer(void)
{
    forked_begin();
    if (!sampler.pid || sampler.pid == (int32_t)getpid()) /* not in a child of vfork */
        reader_permit_leave();
}

static void before(long number, long first, long second, long third)
{
    if (gives_rights_up(number))
        forked_settle();
    if (number == SYS_setrlimit)
        preload_before_limit(0, first, (const void *)second);
    else if (number == SYS_prlimit64)
        preload_before_limit(first, second, (const void *)third);
    if (locks_in(number, first, second, third)) {
        loop_calls_stop();
        sampler_stop_for_good();
    } else if (number == SYS_prctl && first == PR_SET_TSC && second == PR_TSC_SIGSEGV)
        clock_ask_kernel();
    else if (number == SYS_prctl && first == PR_SET_PTRACER)
        name_tracer();
}

static int (*next_prctl)(int, ...);
static int (*next_setns)(int, int);
static int (*next_unshare)(int);
static int (*next_setuid)(uid_t);
static int (*next_seteuid)(uid_t);
static int (*next_setreuid)(uid_t, uid_t);
static int (*next_setresuid)(uid_t, uid_t, uid_t);

ISOSCOPE_API int prctl(int option, ...)
{
    long a[5] = { option };
    va_list more;

    va_start(more, option);
    for (int i = 1; i < 5; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    FIND_NEXT(prctl);
    before(SYS_prctl, a[0], a[1], a[2]);
    return NEXT(prctl)(option, a[1], a[2], a[3], a[4]);
}

ISOSCOPE_API int setns(int fd, int type)
{
    int result;

    FIND_NEXT(setns);
    forked_settle();
    result = NEXT(setns)(fd, type);
    if (result == 0)
        preload_root_changed();
    return result;
}

/* ---- what has not been done by now could not be done later ---- */

#define RIGHTS_CALL(name, parameters, arguments)                                                   \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        FIND_NEXT(name);                                                                           \
        forked_settle();                                                                           \
        return NEXT(name) arguments;                                                               \
    }

RIGHTS_CALL(unshare, (int flags), (flags))
RIGHTS_CALL(setuid, (uid_t uid), (uid))
RIGHTS_CALL(seteuid, (uid_t uid), (uid))
RIGHTS_CALL(setreuid, (uid_t real, uid_t effective), (real, effective))
RIGHTS_CALL(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))

/* ---- syscall(): preload_<arch>.S jumps on to libc's own, but for these ---- */

long (*preload_next_syscall)(long, ...);

const uint8_t preload_syscall_marks[PRELOAD_MARKED_SYSCALLS] = {
    [SYS_prctl] = 1,        [SYS_setns] = 1,          [SYS_seccomp] = 1,   [SYS_chroot] = 1,
    [SYS_pivot_root] = 1,   [SYS_unshare] = 1,        [SYS_setuid] = 1,    [SYS_setreuid] = 1,
    [SYS_setresuid] = 1,    [SYS_setrlimit] = 1,      [SYS_prlimit64] = 1, [SYS_close_range] = 1,
#ifdef SYS_dup2 /* newer processors have dup3 only */
    [SYS_dup2] = 1,
#endif
    [SYS_dup3] = 1,         [SYS_io_uring_enter] = 1,
#ifdef SYS_epoll_wait /* as above */
    [SYS_epoll_wait] = 1,
#endif
#ifdef SYS_poll
    [SYS_poll] = 1,
#endif
#ifdef SYS_epoll_pwait2
    [SYS_epoll_pwait2] = 1,
#endif
    [SYS_epoll_pwait] = 1,  [SYS_ppoll] = 1,
};

void preload_find_syscall(void)
{
    if (!__atomic_load_n(&preload_next_syscall, __ATOMIC_RELAXED))
        __atomic_store_n(&preload_next_syscall, (long (*)(long, ...))late_next("syscall"),
                         __ATOMIC_RELAXED);
}

static bool takes_descriptors(long number)
{
#ifdef SYS_dup2
    if (number == SYS_dup2)
        return true;
#endif
    return number == SYS_dup3 || number == SYS_close_range;
}

static long without_tending(long number, long a, long b, long c)
{
    uint64_t mask;
    bool locked = preload_keep_tending_away(&mask);
    long result = preload_next_syscall(number, a, b, c);

    if (locked)
        sampler_unlock_to(&mask);
    return result;
}

long preload_marked_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    struct loop_wait wait = LOOP_WAIT(URING); /* it was jumped to: the caller is syscall's */
    long result;

    preload_find_syscall();
    if (number == SYS_io_uring_enter)
        return uring_waits_by_syscall(preload_next_syscall, &wait, a, b, c, d, e, f);
    if (loop_waits_has_syscall(number))
        return loop_waits_by_syscall(preload_next_syscall, &wait, number, a, b, c, d, e, f);
    if (takes_descriptors(number))
        return without_tending(number, a, b, c);
    before(number, a, b, c);
    result = preload_next_syscall(number, a, b, c, d, e, f);
    if (result == 0 && (number == SYS_chroot || number == SYS_pivot_root || number == SYS_setns))
        preload_root_changed();
    return result;
}

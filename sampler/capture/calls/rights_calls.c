/*
 * rights_calls.c - the program's calls that change what it may do, or where it lives.
 *
 * Each does what libc's own does; standstill.h says what the sampler's thread does about it. Calls
 * that concern one thread only are the sampler's affair when the main thread makes them, or the
 * only one.
 */
#include "preload.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../sampler.h"
#include "../standstill.h"
#include "../system/clock.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

enum care { CARE_NONE, CARE_FOLLOW, CARE_ALONE, CARE_OVER };

struct guarded {
    enum care care;
    long number, arguments[6];
    struct standstill standstill;
};

/* Other threads' own affairs are not the process's. */
static bool speaks_for_all(void)
{
    return atomic_load_explicit(&sampler.threads.live, memory_order_relaxed) <= 1 ||
           sys_gettid() == sampler.pid;
}

static enum care care_of_prctl(const long arguments[6])
{
    switch (arguments[0]) {
    case PR_SET_SECCOMP:
        return arguments[1] == SECCOMP_MODE_STRICT || arguments[2] ? CARE_OVER : CARE_NONE;
    case PR_CAP_AMBIENT:
    case PR_CAPBSET_DROP:
    case PR_SET_KEEPCAPS:
    case PR_SET_NO_NEW_PRIVS:
    case PR_SET_SECUREBITS:
        return CARE_FOLLOW;
    case PR_SET_TSC:
        if (arguments[1] == PR_TSC_SIGSEGV)
            clock_ask_kernel();
        return CARE_NONE;
    default:
        return CARE_NONE;
    }
}

static enum care care_of(long number, const long arguments[6])
{
    switch (number) {
    case SYS_prctl:
        return care_of_prctl(arguments);
    case SYS_seccomp: /* without a filter it is a question, which libseccomp asks */
        return arguments[0] == SECCOMP_SET_MODE_STRICT ||
                       (arguments[0] == SECCOMP_SET_MODE_FILTER && arguments[2])
                   ? CARE_OVER
                   : CARE_NONE;
    case SYS_unshare: /* its own descriptors, children's pids and clocks: no matter */
        return arguments[0] & ~(CLONE_FILES | CLONE_NEWPID | CLONE_SYSVSEM) ? CARE_ALONE
                                                                            : CARE_NONE;
    case SYS_chroot:
    case SYS_pivot_root:
        return CARE_NONE;
    case SYS_setns:
    case SYS_landlock_restrict_self:
        return CARE_ALONE;
    default:
        return CARE_FOLLOW;
    }
}

/* A filter concerns ticks in any thread. */
static struct guarded guard(long number, const long arguments[6], bool whole_process)
{
    struct guarded guarded = { CARE_NONE, number, { 0 }, { 0 } };

    if (!sampler_running())
        return guarded;
    guarded.care = care_of(number, arguments);
    if (guarded.care != CARE_OVER && !whole_process && !speaks_for_all())
        guarded.care = CARE_NONE;
    for (int i = 0; i < 6; i++)
        guarded.arguments[i] = arguments[i];
    if (guarded.care == CARE_OVER)
        standstill_for_good();
    if (guarded.care == CARE_ALONE)
        standstill_begin(&guarded.standstill);
    return guarded;
}

static void guard_done(struct guarded *guarded, bool succeeded)
{
    if (guarded->care == CARE_ALONE)
        standstill_end(&guarded->standstill);
    if (guarded->care == CARE_FOLLOW && succeeded)
        standstill_follow(guarded->number, guarded->arguments);
}

#define ARGUMENTS(...)                                                                             \
    (const long[6])                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define GUARDED(whole, number, arguments, call)                                                    \
    do {                                                                                           \
        struct guarded guarded_ = guard(number, arguments, whole);                                 \
        result = call;                                                                             \
        guard_done(&guarded_, result == 0);                                                        \
    } while (0)

/* ---- libc's calls for the whole process ---- */

#define WHOLE_PROCESS(name, parameters, names, number, ...)                                        \
    static int(*next_##name) parameters;                                                           \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        int result;                                                                                \
                                                                                                   \
        FIND_NEXT(name);                                                                           \
        GUARDED(true, number, ARGUMENTS(__VA_ARGS__), NEXT(name) names);                           \
        return result;                                                                             \
    }

WHOLE_PROCESS(setuid, (uid_t u), (u), SYS_setuid, u)
WHOLE_PROCESS(setgid, (gid_t g), (g), SYS_setgid, g)
WHOLE_PROCESS(seteuid, (uid_t e), (e), SYS_setresuid, -1, e, -1)
WHOLE_PROCESS(setegid, (gid_t e), (e), SYS_setresgid, -1, e, -1)
WHOLE_PROCESS(setreuid, (uid_t r, uid_t e), (r, e), SYS_setreuid, r, e)
WHOLE_PROCESS(setregid, (gid_t r, gid_t e), (r, e), SYS_setregid, r, e)
WHOLE_PROCESS(setresuid, (uid_t r, uid_t e, uid_t s), (r, e, s), SYS_setresuid, r, e, s)
WHOLE_PROCESS(setresgid, (gid_t r, gid_t e, gid_t s), (r, e, s), SYS_setresgid, r, e, s)
WHOLE_PROCESS(setgroups, (size_t n, const gid_t *list), (n, list), SYS_setgroups, (long)n,
              (long)list)

/* libc looks the groups up and sets them within itself. */
static int (*next_initgroups)(const char *, gid_t);

static void follow_groups(void)
{
    int count = getgroups(0, NULL);
    gid_t *list = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;

    if (count == 0 || (list && (count = getgroups(count, list)) >= 0))
        standstill_follow(SYS_setgroups, ARGUMENTS(count, (long)list));
    free(list);
}

ISOSCOPE_API int initgroups(const char *user, gid_t group)
{
    int result;

    FIND_NEXT(initgroups);
    result = NEXT(initgroups)(user, group);
    if (result == 0 && sampler_running())
        follow_groups();
    return result;
}

/* ---- calls for one thread ---- */

static int (*next_prctl)(int, ...);
static int (*next_unshare)(int);
static int (*next_setns)(int, int);
static int (*next_capset)(cap_user_header_t, const cap_user_data_t);

ISOSCOPE_API int prctl(int option, ...)
{
    long a[6] = { option };
    va_list more;
    int result;

    va_start(more, option);
    for (int i = 1; i < 5; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    FIND_NEXT(prctl);
    GUARDED(false, SYS_prctl, a, NEXT(prctl)(option, a[1], a[2], a[3], a[4]));
    return result;
}

ISOSCOPE_API int unshare(int flags)
{
    int result;

    FIND_NEXT(unshare);
    GUARDED(false, SYS_unshare, ARGUMENTS(flags), NEXT(unshare)(flags));
    return result;
}

ISOSCOPE_API int setns(int fd, int type)
{
    int result;

    FIND_NEXT(setns);
    GUARDED(false, SYS_setns, ARGUMENTS(fd, type), NEXT(setns)(fd, type));
    if (result == 0)
        preload_root_changed();
    return result;
}

/* "This thread" is another number to the thread that follows. */
static struct __user_cap_header_struct for_oneself(cap_user_header_t given)
{
    return (struct __user_cap_header_struct){ given ? given->version : 0, 0 };
}

int capset(cap_user_header_t header, const cap_user_data_t data);

ISOSCOPE_API int capset(cap_user_header_t header, const cap_user_data_t data)
{
    struct __user_cap_header_struct own = for_oneself(header);
    int result;

    FIND_NEXT(capset);
    GUARDED(false, SYS_capset, ARGUMENTS((long)&own, (long)data), NEXT(capset)(header, data));
    return result;
}

/* ---- syscall(): preload_<arch>.S jumps on to libc's own, but for these ---- */

long (*preload_next_syscall)(long, ...);

const uint8_t preload_syscall_marks[PRELOAD_MARKED_SYSCALLS] = {
    [SYS_setuid] = 1,     [SYS_setgid] = 1,    [SYS_setreuid] = 1,
    [SYS_setregid] = 1,   [SYS_setresuid] = 1, [SYS_setresgid] = 1,
    [SYS_setgroups] = 1,  [SYS_prctl] = 1,     [SYS_unshare] = 1,
    [SYS_setns] = 1,      [SYS_capset] = 1,    [SYS_chroot] = 1,
    [SYS_pivot_root] = 1, [SYS_seccomp] = 1,   [SYS_landlock_restrict_self] = 1,
};

void preload_find_syscall(void)
{
    if (!__atomic_load_n(&preload_next_syscall, __ATOMIC_RELAXED))
        __atomic_store_n(&preload_next_syscall, (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"),
                         __ATOMIC_RELAXED);
}

long preload_marked_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    struct __user_cap_header_struct own;
    long follow[6] = { a, b, c, d, e, f };
    long result;

    preload_find_syscall();
    if (number == SYS_capset) {
        own = for_oneself((cap_user_header_t)a);
        follow[0] = (long)&own;
    }
    if (number >= 0 && number < PRELOAD_MARKED_SYSCALLS && preload_syscall_marks[number])
        GUARDED(false, number, follow, preload_next_syscall(number, a, b, c, d, e, f));
    else
        result = preload_next_syscall(number, a, b, c, d, e, f);
    if (result == 0 && (number == SYS_chroot || number == SYS_pivot_root || number == SYS_setns))
        preload_root_changed();
    return result;
}

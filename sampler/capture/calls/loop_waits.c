/*
 * loop_waits.c - calls in which event loops wait: epoll_wait, poll, select. Those that open the signal mask too
 * are in wait_calls.c.
 */
#include "loop_waits.h"

#include "is_readable.h"
#include "preload.h"
#include "waits_for_many.h"

#include "../../include/isoscope/isoscope.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

static int (*next_epoll_wait)(int, struct epoll_event *, int, int);
static int (*next_poll)(struct pollfd *, nfds_t, int);
static int (*next___poll_chk)(struct pollfd *, nfds_t, int, size_t);
static int (*next_select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);

ISOSCOPE_API int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    int result;

    FIND_NEXT(epoll_wait);
    LOOP_WAIT_OF_SET_AROUND(result, EPOLL, LOOP_EPOLL_SET(fd), true,
                            NEXT(epoll_wait)(fd, events, max, timeout));
    return result;
}

ISOSCOPE_API int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int result;

    FIND_NEXT(poll);
    LOOP_WAIT_AROUND(result, POLL, timeout != 0 && count >= LOOP_DESCRIPTORS_MIN,
                     NEXT(poll)(fds, count, timeout));
    return result;
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes);
/* What poll is with _FORTIFY_SOURCE. */
ISOSCOPE_API int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes)
{
    int result;

    FIND_NEXT(__poll_chk);
    LOOP_WAIT_AROUND(result, POLL, timeout != 0 && count >= LOOP_DESCRIPTORS_MIN,
                     NEXT(__poll_chk)(fds, count, timeout, bytes));
    return result;
}

ISOSCOPE_API int select(int count, fd_set *reads, fd_set *writes, fd_set *excepts,
                        struct timeval *timeout)
{
    int result;

    FIND_NEXT(select);
    LOOP_WAIT_AROUND(result, SELECT,
                     (!timeout || timeout->tv_sec || timeout->tv_usec) &&
                         waits_for_many(count, reads, writes, excepts),
                     NEXT(select)(count, reads, writes, excepts, timeout));
    return result;
}

/* ---- the same by syscall(): runtimes call the kernel so that have no header for it ---- */

static bool is_epoll(long number)
{
#ifdef SYS_epoll_wait /* newer processors have epoll_pwait only */
    if (number == SYS_epoll_wait)
        return true;
#endif
#ifdef SYS_epoll_pwait2
    if (number == SYS_epoll_pwait2)
        return true;
#endif
    return number == SYS_epoll_pwait;
}

static bool is_poll(long number)
{
#ifdef SYS_poll
    if (number == SYS_poll)
        return true;
#endif
    return number == SYS_ppoll;
}

bool loop_waits_has_syscall(long number)
{
    return is_epoll(number) || is_poll(number);
}

/* c: milliseconds, or ppoll's time. It may lie nowhere, which the kernel says. */
static bool does_wait(long number, long c)
{
    const struct timespec *time = (const struct timespec *)c;

    if (number != SYS_ppoll)
        return c != 0;
    return !time || (is_readable(time, sizeof(*time)) && (time->tv_sec || time->tv_nsec));
}

long loop_waits_by_syscall(long (*next)(long, ...), struct loop_wait *wait, long number, long a,
                           long b, long c, long d, long e, long f)
{
    bool marks;
    long result;

    wait->kind = is_epoll(number) ? FEED_LOOP_EPOLL : FEED_LOOP_POLL;
    marks = LOOP_WAIT_ENTER(
        *wait, (wait->set = is_epoll(number) ? LOOP_EPOLL_SET(a) : 0,
                is_epoll(number) || (b >= LOOP_DESCRIPTORS_MIN && does_wait(number, c))));
    result = next(number, a, b, c, d, e, f);
    if (marks)
        loop_thread_leave_wait();
    return result;
}

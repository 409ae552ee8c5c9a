/*
 * wait_calls.c - calls that open the signal mask while they wait: ppoll, pselect, epoll_pwait,
 * sigsuspend.
 *
 * A program that computes with all signals blocked may have a tick waiting when it comes to such a
 * call, which would return EINTR at once, and nobody has sent anything. So the signals of ticks
 * stay blocked through the wait: a thread that waits has no use for them. What the program handles,
 * or waits for, itself is not touched.
 *
 * But for sigsuspend they are loops' waits, too.
 */
#include "loop_waits.h"
#include "preload.h"
#include "waits_for_many.h"

#include "../../include/isoscope/isoscope.h"
#include "../sampler_signals.h"
#include "../sampler_state.h"
#include "../threads/tick_mask.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int (*next_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static int (*next___ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *,
                               size_t);
static int (*next_pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *,
                           const sigset_t *);
static int (*next_epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
static int (*next_epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *,
                                const sigset_t *);
static int (*next_sigsuspend)(const sigset_t *);

/* The mask that the program gave, and the signals of ticks. NULL stays NULL: no mask is opened. */
static const sigset_t *with_ticks(const sigset_t *mask, sigset_t *room)
{
    if (!mask || !sampler_has_ticks())
        return mask;
    *room = *mask;
    tick_mask_add(room, sampler_tick_signals());
    return room;
}

static bool is_zero(const struct timespec *timeout)
{
    return timeout && !timeout->tv_sec && !timeout->tv_nsec;
}

ISOSCOPE_API int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                       const sigset_t *mask)
{
    sigset_t room;
    int result;

    FIND_NEXT(ppoll);
    LOOP_WAIT_AROUND(result, POLL, !is_zero(timeout) && count >= LOOP_DESCRIPTORS_MIN,
                     NEXT(ppoll)(fds, count, timeout, with_ticks(mask, &room)));
    return result;
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t bytes);
/* What ppoll is with _FORTIFY_SOURCE. */
ISOSCOPE_API int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                             const sigset_t *mask, size_t bytes)
{
    sigset_t room;
    int result;

    FIND_NEXT(__ppoll_chk);
    LOOP_WAIT_AROUND(result, POLL, !is_zero(timeout) && count >= LOOP_DESCRIPTORS_MIN,
                     NEXT(__ppoll_chk)(fds, count, timeout, with_ticks(mask, &room), bytes));
    return result;
}

ISOSCOPE_API int pselect(int count, fd_set *reads, fd_set *writes, fd_set *excepts,
                         const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t room;
    int result;

    FIND_NEXT(pselect);
    LOOP_WAIT_AROUND(
        result, SELECT, !is_zero(timeout) && waits_for_many(count, reads, writes, excepts),
        NEXT(pselect)(count, reads, writes, excepts, timeout, with_ticks(mask, &room)));
    return result;
}

ISOSCOPE_API int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
                             const sigset_t *mask)
{
    sigset_t room;
    int result;

    FIND_NEXT(epoll_pwait);
    LOOP_WAIT_OF_SET_AROUND(result, EPOLL, LOOP_EPOLL_SET(fd), true,
                            NEXT(epoll_pwait)(fd, events, max, timeout, with_ticks(mask, &room)));
    return result;
}

int epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *timeout,
                 const sigset_t *mask);
/* glibc has it since 2.35. */
ISOSCOPE_API int epoll_pwait2(int fd, struct epoll_event *events, int max,
                              const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t room;
    int result;

    FIND_NEXT(epoll_pwait2);
    if (!NEXT(epoll_pwait2)) {
        errno = ENOSYS;
        return -1;
    }
    LOOP_WAIT_OF_SET_AROUND(result, EPOLL, LOOP_EPOLL_SET(fd), true,
                            NEXT(epoll_pwait2)(fd, events, max, timeout, with_ticks(mask, &room)));
    return result;
}

ISOSCOPE_API int sigsuspend(const sigset_t *mask)
{
    sigset_t room;

    FIND_NEXT(sigsuspend);
    return NEXT(sigsuspend)(with_ticks(mask, &room));
}

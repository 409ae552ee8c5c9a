/*
 * loop_waits.c - calls in which event loops wait: epoll_wait, poll, select. Those that open the signal mask too
 * are in wait_calls.c.
 */
#include "loop_waits.h"

#include "preload.h"
#include "waits_for_many.h"

#include "../../include/isoscope/isoscope.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

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

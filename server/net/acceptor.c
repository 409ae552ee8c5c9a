#include "acceptor.h"

#include "../console/log_line.h"
#include "loop.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REST_MS = 200 };

struct acceptor {
    struct io_watch *watch;
    int listener; /* the loop's descriptor */
    bool is_tcp;
    uint32_t gather_ms; /* 0: each is taken at once */
    const struct acceptor_events *events;
    void *context;
};

static void say_exhausted(int reason)
{
    static bool said; /* the service thread's only; all listeners mean the same descriptors */
    struct rlimit files;

    if (said)
        return;
    said = true;
    if (reason == EMFILE && getrlimit(RLIMIT_NOFILE, &files) == 0)
        log_line("all %lu file descriptors are in use; new connections wait (ulimit -n raises the "
                 "limit)",
                 (unsigned long)files.rlim_cur);
    else
        log_line("cannot accept connections now: %s", strerror(reason));
}

static void rest(struct acceptor *acceptor, int reason)
{
    say_exhausted(reason);
    io_watch_reads(acceptor->watch, false);
    io_watch_timeout(acceptor->watch, REST_MS);
    if (acceptor->events->exhausted)
        acceptor->events->exhausted(acceptor->context);
}

static bool is_exhaustion(int reason)
{
    return reason == EMFILE || reason == ENFILE || reason == ENOBUFS || reason == ENOMEM;
}

static void welcome(struct acceptor *acceptor, int fd)
{
    /* Of several replies the second must not wait until the client has said that it got the
     * first. */
    if (acceptor->is_tcp)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    acceptor->events->accepted(acceptor->context, fd);
}

enum taken { TAKEN_NONE, TAKEN_SOME, TAKEN_RESTS };

static enum taken take_all(struct acceptor *acceptor)
{
    enum taken taken = TAKEN_NONE;

    for (;;) {
        int fd = accept4(acceptor->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            welcome(acceptor, fd);
            taken = TAKEN_SOME;
        } else if (is_exhaustion(errno)) {
            rest(acceptor, errno);
            return TAKEN_RESTS;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return taken;
        }
    }
}

static void look_later(struct acceptor *acceptor)
{
    io_watch_reads(acceptor->watch, false);
    io_watch_timeout(acceptor->watch, acceptor->gather_ms);
}

static bool listener_ready(void *context)
{
    struct acceptor *acceptor = context;

    if (take_all(acceptor) == TAKEN_SOME && acceptor->gather_ms)
        look_later(acceptor);
    return true;
}

/* When nobody has come meanwhile, the next one wakes the loop again. */
static bool rested(void *context)
{
    struct acceptor *acceptor = context;
    enum taken taken = acceptor->gather_ms ? take_all(acceptor) : TAKEN_NONE;

    if (taken == TAKEN_SOME)
        look_later(acceptor);
    else if (taken == TAKEN_NONE)
        io_watch_reads(acceptor->watch, true);
    return true;
}

void acceptor_drain(struct acceptor *acceptor)
{
    take_all(acceptor);
}

void acceptor_gather(struct acceptor *acceptor, uint32_t milliseconds)
{
    acceptor->gather_ms = milliseconds;
}

static bool is_tcp(int listener)
{
    int domain = AF_UNSPEC;
    socklen_t size = sizeof(domain);

    return getsockopt(listener, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX;
}

int acceptor_new(struct acceptor **out, struct loop *loop, int listener,
                 const struct acceptor_events *events, void *context)
{
    static const struct io_watch_events watched = { .ready = listener_ready, .due = rested };
    struct acceptor *acceptor = calloc(1, sizeof(*acceptor));

    if (!acceptor) {
        close(listener);
        return -ISOSCOPE_NO_MEMORY;
    }
    *acceptor = (struct acceptor){
        .listener = listener, .is_tcp = is_tcp(listener), .events = events, .context = context
    };
    int status = loop_watch(loop, &acceptor->watch, listener, &watched, acceptor);
    if (status < 0) {
        free(acceptor);
        return status;
    }
    *out = acceptor;
    return 0;
}

void acceptor_free(struct acceptor *acceptor)
{
    free(acceptor);
}

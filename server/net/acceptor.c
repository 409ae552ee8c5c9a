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

void acceptor_drain(struct acceptor *acceptor)
{
    for (;;) {
        int fd = accept4(acceptor->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            /* Of several replies the second must not wait until the client has said that it got the
             * first. */
            if (acceptor->is_tcp)
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
            acceptor->events->accepted(acceptor->context, fd);
        } else if (is_exhaustion(errno)) {
            return rest(acceptor, errno);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static bool listener_ready(void *context)
{
    acceptor_drain(context);
    return true;
}

static bool rested(void *context)
{
    struct acceptor *acceptor = context;

    io_watch_reads(acceptor->watch, true);
    return true;
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

#include "link.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

int link_new(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ? -ISOSCOPE_SYSTEM : 0;
}

void link_tell(int end, const struct link_message *message)
{
    /* A handful of messages in a run: the socket has room for all of them. */
    (void)!send(end, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool link_hear(int end, struct link_message *out)
{
    struct pollfd more = { .fd = end, .events = POLLIN };
    ssize_t got;

    /* A loop that watches the descriptor has taken the waiting out of it. */
    while ((got = recv(end, out, sizeof(*out), 0)) < 0 && (errno == EINTR || errno == EAGAIN))
        poll(&more, 1, -1);
    return got == sizeof(*out);
}

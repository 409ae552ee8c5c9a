#include "room_link.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DESCRIPTORS_MAX = 3,
    QUEUE_BYTES = 1024 * 1024, /* of a thousand programs that start at once */
};

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
};

int room_link_new(int ends[2])
{
    int bytes = QUEUE_BYTES;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return -ISOSCOPE_SYSTEM;
    /* Beyond the machine's limit only root may go; others get what they may. */
    if (setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    return 0;
}

bool room_link_has_room(int end)
{
    struct pollfd room = { .fd = end, .events = POLLOUT };

    return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT);
}

static bool send_message(int end, const struct room_message *message, const int *descriptors,
                         size_t count)
{
    union control control = { .bytes = { 0 } };
    struct iovec part = { (void *)message, sizeof(*message) };
    struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };

    if (count) {
        packet.msg_control = &control;
        packet.msg_controllen = CMSG_SPACE(count * sizeof(int));

        struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    }
    return sendmsg(end, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*message);
}

bool room_link_begin(int end, const struct room_message *begin)
{
    return send_message(end, begin, NULL, 0);
}

bool room_link_feed(int end, const struct feed_greeting *greeting)
{
    const struct room_message message = { .word = ROOM_FEED, .feed = *greeting };
    int descriptors[DESCRIPTORS_MAX] = { greeting->memfd };
    size_t count = 1;

    if (greeting->clock >= 0)
        descriptors[count++] = greeting->clock;
    if (greeting->faults >= 0)
        descriptors[count++] = greeting->faults;
    return send_message(end, &message, descriptors, count);
}

bool room_link_client(int end, int client)
{
    return send_message(end, &(struct room_message){ .word = ROOM_CLIENT }, &client, 1);
}

static size_t take_descriptors(struct msghdr *packet, int out[DESCRIPTORS_MAX])
{
    struct cmsghdr *c = CMSG_FIRSTHDR(packet);
    size_t count;

    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return 0;
    count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(out, CMSG_DATA(c), count * sizeof(int));
    return count;
}

static size_t descriptors_of(const struct room_message *message)
{
    if (message->word == ROOM_FEED)
        return 1u + (message->feed.clock >= 0) + (message->feed.faults >= 0);
    return message->word == ROOM_CLIENT;
}

static void give(struct room_message *message, const int *descriptors, int *client)
{
    size_t next = 1;

    if (message->word == ROOM_CLIENT)
        *client = descriptors[0];
    if (message->word != ROOM_FEED)
        return;
    message->feed.memfd = descriptors[0];
    if (message->feed.clock >= 0)
        message->feed.clock = descriptors[next++];
    if (message->feed.faults >= 0)
        message->feed.faults = descriptors[next++];
}

enum room_received room_link_receive(int end, struct room_message *out, int *client)
{
    union control control;
    struct iovec part = { out, sizeof(*out) };
    struct msghdr packet = { .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control) };
    int descriptors[DESCRIPTORS_MAX];
    size_t count;
    ssize_t got;

    do {
        got = recvmsg(end, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return ROOM_RECEIVED_NOTHING;
    if (got <= 0)
        return ROOM_RECEIVED_END;
    count = take_descriptors(&packet, descriptors);
    /* Without a free descriptor some are lost on the way. */
    if (got != (ssize_t)sizeof(*out) || count != descriptors_of(out)) {
        while (count)
            close(descriptors[--count]);
        out->word = 0;
        return ROOM_RECEIVED;
    }
    give(out, descriptors, client);
    return ROOM_RECEIVED;
}

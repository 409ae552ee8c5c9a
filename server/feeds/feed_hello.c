#include "feed_hello.h"

#include "../../sampler/feed/layout.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DESCRIPTORS_MAX = 4 }; /* more than three are nonsense, but must be closed */

/* One message as it came. */
struct packet {
    union {
        struct feed_message head;
        struct feed_hello hello;
        char bytes[sizeof(struct feed_hello) + 1]; /* one more, to notice longer ones */
    };
    size_t size;
    int descriptors[DESCRIPTORS_MAX];
    size_t descriptor_count;
    bool truncated;
};

static void take_descriptors(struct packet *packet, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;

        size_t bytes = c->cmsg_len - CMSG_LEN(0);
        size_t room = sizeof(packet->descriptors) - packet->descriptor_count * sizeof(int);
        if (bytes > room)
            bytes = room;
        memcpy(packet->descriptors + packet->descriptor_count, CMSG_DATA(c), bytes);
        packet->descriptor_count += bytes / sizeof(int);
    }
}

static ssize_t receive_packet(struct packet *out, int socket)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct iovec part = { out->bytes, sizeof(out->bytes) };
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    ssize_t got;

    do {
        got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return got;
    out->size = (size_t)got;
    out->truncated = message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
    take_descriptors(out, &message);
    return got;
}

static void close_descriptors(struct packet *packet)
{
    for (size_t i = 0; i < packet->descriptor_count; i++)
        close(packet->descriptors[i]);
    packet->descriptor_count = 0;
}

static bool is_message(const struct packet *packet, enum feed_message_type type, size_t size)
{
    return packet->size == size && !packet->truncated && packet->head.magic == FEED_MESSAGE_MAGIC &&
           packet->head.version == FEED_VERSION && packet->head.type == type;
}

/* The kernel's word counts. It says 0 for a process in a namespace that we cannot see. */
static bool take_peer(struct feed_greeting *out, struct ucred *peer, int socket, uid_t owner)
{
    socklen_t size = sizeof(*peer);

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, peer, &size) < 0 ||
        (owner != FEED_OF_EVERYBODY && peer->uid != owner && peer->uid != 0))
        return false;
    out->uid = peer->uid;
    out->gid = peer->gid;
    return true;
}

static bool take_pids(struct feed_greeting *out, const struct ucred *peer,
                      const struct feed_hello *hello)
{
    out->pid = peer->pid > 0 ? peer->pid : hello->pid;
    /* In another namespace its parent's number means nothing here. */
    out->ppid = out->pid == hello->pid ? hello->ppid : 0;
    return out->pid > 0;
}

/* As many as it says. */
static bool has_descriptors(const struct packet *packet)
{
    uint32_t events = packet->hello.events;

    return !(events & ~(uint32_t)(FEED_HELLO_CLOCK | FEED_HELLO_FAULTS)) &&
           packet->descriptor_count ==
               1u + !!(events & FEED_HELLO_CLOCK) + !!(events & FEED_HELLO_FAULTS);
}

static bool take_hello(struct feed_greeting *out, struct packet *packet, int socket, uid_t owner)
{
    const struct feed_hello *hello = &packet->hello;
    struct ucred peer;
    size_t next = 0;

    if (!is_message(packet, FEED_MESSAGE_HELLO, sizeof(*hello)) || !has_descriptors(packet) ||
        !take_peer(out, &peer, socket, owner) || !take_pids(out, &peer, hello))
        return false;
    out->memfd = packet->descriptors[next++];
    out->clock = hello->events & FEED_HELLO_CLOCK ? packet->descriptors[next++] : -1;
    out->faults = hello->events & FEED_HELLO_FAULTS ? packet->descriptors[next++] : -1;
    packet->descriptor_count = 0;
    out->origin = hello->origin;
    memcpy(out->exe, hello->exe, sizeof(out->exe));
    out->exe[sizeof(out->exe) - 1] = '\0';
    return true;
}

static bool take_ask(struct feed_greeting *out, const struct packet *packet, int socket,
                     uid_t owner)
{
    struct ucred peer;

    return packet->size == sizeof(packet->head) && !packet->truncated &&
           packet->head.magic == FEED_MESSAGE_MAGIC && packet->head.type == FEED_MESSAGE_ASK &&
           packet->head.version == FEED_ASK_VERSION && !packet->descriptor_count &&
           take_peer(out, &peer, socket, owner);
}

enum feed_received feed_receive(struct feed_greeting *out, int socket, uid_t owner)
{
    struct packet packet = { 0 };
    ssize_t got = receive_packet(&packet, socket);
    enum feed_received received = FEED_RECEIVED_NONSENSE;

    if (got < 0)
        return errno == EAGAIN ? FEED_RECEIVED_NOTHING : FEED_RECEIVED_END;
    if (got == 0)
        received = FEED_RECEIVED_END;
    else if (take_hello(out, &packet, socket, owner))
        received = FEED_RECEIVED_HELLO;
    else if (take_ask(out, &packet, socket, owner))
        received = FEED_RECEIVED_ASK;
    close_descriptors(&packet);
    return received;
}

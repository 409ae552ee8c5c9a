#include "uplink.h"

#include "../feed/layout.h"
#include "../feed/sys.h"
#include "../include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { DESCRIPTORS_MAX = 2 };

static struct feed_message head(enum feed_message_type type)
{
    return (struct feed_message){ FEED_MESSAGE_MAGIC, FEED_VERSION, (uint16_t)type };
}

/* The queue is full when the service stands still: nobody waits for it then. */
static long connect_to(const struct uplink_address *address)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    long fd = sys_call3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return fd;
    memcpy(to.sun_path, address->path, sizeof to.sun_path);
    if (sys_call3(SYS_connect, fd, &to, sizeof to) < 0) {
        sys_call1(SYS_close, fd);
        return -ECONNREFUSED;
    }
    return fd;
}

static long send_with(int fd, const void *bytes, size_t size, const int *descriptors, size_t count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control = { 0 };
    struct iovec iov = { (void *)bytes, size };
    struct msghdr message = {
        .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(rights), descriptors, count * sizeof(int));
    return sys_call3(SYS_sendmsg, fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int uplink_hello(const struct uplink_address *address, enum feed_origin origin, int memfd,
                 int clock)
{
    const int descriptors[] = { memfd, clock };
    struct feed_hello hello = { .head = head(FEED_MESSAGE_HELLO), .origin = origin };
    long fd = connect_to(address);

    if (fd < 0)
        return -ISOSCOPE_NO_SERVICE;
    hello.pid = (int32_t)sys_call0(SYS_getpid);
    hello.ppid = (int32_t)sys_call0(SYS_getppid);
    sys_call4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", hello.exe, sizeof hello.exe - 1);
    if (send_with((int)fd, &hello, sizeof hello, descriptors, clock < 0 ? 1 : 2) !=
        (long)sizeof hello) {
        sys_call1(SYS_close, fd);
        return -ISOSCOPE_NO_SERVICE;
    }
    return (int)fd;
}

bool uplink_poll(int fd)
{
    struct feed_welcome welcome;
    long got = sys_call6(SYS_recvfrom, fd, (long)&welcome, sizeof welcome, MSG_DONTWAIT, 0, 0);

    /* The welcome says nothing new: what the service wants stands in the segment. */
    return got > 0 || got == -EAGAIN || got == -EINTR;
}

/* One that finds no room is not missed: the service looks by itself, later. */
static void send_one(int fd, const void *message, size_t bytes)
{
    sys_call6(SYS_sendto, fd, SYS_ARG(message), (long)bytes, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
}

void uplink_look(int fd)
{
    struct feed_look look = { head(FEED_MESSAGE_LOOK) };

    send_one(fd, &look, sizeof look);
}

void uplink_goodbye(int fd)
{
    struct feed_goodbye goodbye = { head(FEED_MESSAGE_GOODBYE) };

    send_one(fd, &goodbye, sizeof goodbye);
}

#include "uplink.h"

#include "../feed/layout.h"
#include "../feed/sys.h"
#include "../include/isoscope/isoscope.h"
#include "reader_permit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { DESCRIPTORS_MAX = 3 };

static SIGNAL_SAFE struct feed_message head(enum feed_message_type type)
{
    return (struct feed_message){ FEED_MESSAGE_MAGIC, FEED_VERSION, (uint16_t)type };
}

/* Path, ten digits and the name fit: a path has 107 bytes at most. */
void uplink_tables_of_user(char out[128], const struct uplink_address *address, uint32_t uid)
{
    char digits[10];
    size_t count = 0, length = 0;

    while (address->path[length] && length < sizeof address->path - 1) {
        out[length] = address->path[length];
        length++;
    }
    out[length++] = '.';
    do {
        digits[count++] = (char)('0' + uid % 10);
    } while (uid /= 10);
    while (count)
        out[length++] = digits[--count];
    memcpy(out + length, FEED_USER_TABLES_NAME, sizeof FEED_USER_TABLES_NAME);
}

/* The queue is full when the service stands still: nobody waits for it then. */
int uplink_connect(const struct uplink_address *address)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    long fd = sys_call3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -ISOSCOPE_NO_SERVICE;
    memcpy(to.sun_path, address->path, sizeof to.sun_path);
    if (sys_call3(SYS_connect, fd, &to, sizeof to) < 0) {
        sys_call1(SYS_close, fd);
        return -ISOSCOPE_NO_SERVICE;
    }
    return (int)fd;
}

static SIGNAL_SAFE long send_with(int fd, const void *bytes, size_t size, const int *descriptors,
                                  size_t count)
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

int uplink_hello(const struct uplink_address *address, int uplink, enum feed_origin origin,
                 struct uplink_feed feed)
{
    int descriptors[DESCRIPTORS_MAX] = { feed.memfd };
    struct feed_hello hello = { .head = head(FEED_MESSAGE_HELLO), .origin = origin };
    size_t count = 1;
    long sent;

    if (feed.clock >= 0) {
        descriptors[count++] = feed.clock;
        hello.events |= FEED_HELLO_CLOCK;
    }
    if (feed.faults >= 0) {
        descriptors[count++] = feed.faults;
        hello.events |= FEED_HELLO_FAULTS;
    }
    hello.pid = (int32_t)sys_call0(SYS_getpid);
    hello.ppid = (int32_t)sys_call0(SYS_getppid);
    sys_call4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", hello.exe, sizeof hello.exe - 1);
    if (uplink < 0 && (uplink = uplink_connect(address)) < 0)
        return -ISOSCOPE_NO_SERVICE;
    sent = send_with(uplink, &hello, sizeof hello, descriptors, count);
    reader_permit(uplink);
    sys_call1(SYS_close, uplink);
    return sent == (long)sizeof hello ? 0 : -ISOSCOPE_NO_SERVICE;
}

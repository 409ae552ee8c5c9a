#include "handover.h"

#include "../feed/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

/* Room for what one datagram brings: descriptors, and who sent them. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(HANDOVER_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

static int name_it(struct handover *out)
{
    const int on = 1;
    long error;

    memset(&out->name, 0, sizeof out->name);
    out->name.sun_family = AF_UNIX;
    out->name_bytes = sizeof out->name;
    error = sys_call5(SYS_setsockopt, out->inbox, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    if (error == 0) /* with the family alone the kernel finds a name that is free */
        error = sys_call3(SYS_bind, out->inbox, &out->name, sizeof out->name.sun_family);
    if (error == 0)
        error = sys_call3(SYS_getsockname, out->inbox, &out->name, &out->name_bytes);
    return (int)error;
}

int handover_open(struct handover *out)
{
    int error;

    out->inbox = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (out->inbox < 0)
        return out->inbox;
    error = name_it(out);
    if (error < 0)
        sys_call1(SYS_close, out->inbox);
    return error;
}

int handover_send(const struct handover *to, const int *fds, size_t count)
{
    union control control = { 0 };
    char nothing = 0;
    struct iovec iov = { &nothing, 1 };
    struct msghdr message = { .msg_name = (void *)&to->name,
                              .msg_namelen = to->name_bytes,
                              .msg_iov = &iov,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    long fd = sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), sent;

    if (fd < 0)
        return (int)fd;
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
    sent = sys_call3(SYS_sendmsg, fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    sys_call1(SYS_close, fd);
    return sent < 0 ? (int)sent : 0;
}

/* What one datagram holds. *ours: this process sent it. */
static int unpack(struct msghdr *message, int fds[HANDOVER_MAX], int *ours)
{
    struct ucred sender;
    int count = 0;

    *ours = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        size_t bytes = part->cmsg_len - CMSG_LEN(0);

        if (part->cmsg_type == SCM_RIGHTS) {
            count = (int)(bytes / sizeof(int));
            memcpy(fds, CMSG_DATA(part), bytes);
        } else if (part->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&sender, CMSG_DATA(part), sizeof sender);
            *ours = sender.pid == (int)sys_call0(SYS_getpid);
        }
    }
    return count;
}

int handover_take(struct handover *from, int fds[HANDOVER_MAX])
{
    int count = 0, ours = 0;

    while (!ours) {
        union control control;
        char nothing;
        struct iovec iov = { &nothing, 1 };
        struct msghdr message = { .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof control };

        count = 0;
        if (sys_call3(SYS_recvmsg, from->inbox, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
            break;
        count = unpack(&message, fds, &ours);
        for (int i = 0; !ours && i < count; i++)
            sys_call1(SYS_close, fds[i]);
    }
    sys_call1(SYS_close, from->inbox);
    return count;
}

#include "supervised.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_FD = 3, GIVEN_MAX = 65536, MESSAGE_BYTES = 256 };

struct given {
    int fd; /* -1: taken */
    char name[SUPERVISED_NAME_BYTES];
};

struct supervised {
    struct given *list;
    size_t count;
    int notify; /* -1: nobody listens */
    struct sockaddr_un address;
    socklen_t address_bytes;
};

static long number_of(const char *name)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 10) : 0;
}

static void take_name(struct given *given, const char **names)
{
    size_t length;

    if (!*names)
        return;
    length = strcspn(*names, ":");
    if (length < sizeof(given->name))
        memcpy(given->name, *names, length);
    *names = (*names)[length] ? *names + length + 1 : NULL;
}

static int take_given(struct supervised *supervised)
{
    long count = number_of("LISTEN_PID") == getpid() ? number_of("LISTEN_FDS") : 0;
    const char *names = getenv("LISTEN_FDNAMES");

    if (count <= 0 || count > GIVEN_MAX)
        return 0;
    supervised->list = calloc((size_t)count, sizeof(*supervised->list));
    if (!supervised->list)
        return -ISOSCOPE_NO_MEMORY;
    for (long i = 0; i < count; i++) {
        struct given *given = &supervised->list[supervised->count++];

        given->fd = FIRST_FD + (int)i;
        if (fcntl(given->fd, F_SETFD, FD_CLOEXEC) < 0)
            given->fd = -1;
        take_name(given, &names);
    }
    return 0;
}

/* "@" begins an address without a file. */
static void open_notify(struct supervised *supervised)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path ? strlen(path) : 0;

    if (length < 2 || length >= sizeof(supervised->address.sun_path) ||
        (path[0] != '/' && path[0] != '@'))
        return;
    supervised->address.sun_family = AF_UNIX;
    memcpy(supervised->address.sun_path, path, length);
    if (path[0] == '@')
        supervised->address.sun_path[0] = '\0';
    supervised->address_bytes =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
    supervised->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

int supervised_new(struct supervised **out)
{
    struct supervised *supervised = calloc(1, sizeof(*supervised));

    if (!supervised)
        return -ISOSCOPE_NO_MEMORY;
    supervised->notify = -1;
    if (take_given(supervised) < 0) {
        free(supervised);
        return -ISOSCOPE_NO_MEMORY;
    }
    open_notify(supervised);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    unsetenv("NOTIFY_SOCKET");
    *out = supervised;
    return 0;
}

void supervised_free(struct supervised *supervised)
{
    if (!supervised)
        return;
    for (size_t i = 0; i < supervised->count; i++)
        if (supervised->list[i].fd >= 0)
            close(supervised->list[i].fd);
    if (supervised->notify >= 0)
        close(supervised->notify);
    free(supervised->list);
    free(supervised);
}

bool supervised_keeps(const struct supervised *supervised)
{
    return supervised->notify >= 0;
}

size_t supervised_count(const struct supervised *supervised)
{
    return supervised->count;
}

const char *supervised_name(const struct supervised *supervised, size_t number)
{
    return supervised->list[number].name;
}

int supervised_peek(const struct supervised *supervised, size_t number)
{
    return supervised->list[number].fd;
}

int supervised_take(struct supervised *supervised, size_t number)
{
    int fd = supervised->list[number].fd;

    supervised->list[number].fd = -1;
    return fd;
}

static void notify(struct supervised *supervised, const char *text, int descriptor)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    struct iovec part = { (void *)text, strlen(text) };
    struct msghdr message = { .msg_name = &supervised->address,
                              .msg_namelen = supervised->address_bytes,
                              .msg_iov = &part,
                              .msg_iovlen = 1 };

    if (supervised->notify < 0)
        return;
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);

        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
    }
    (void)!sendmsg(supervised->notify, &message, MSG_NOSIGNAL);
}

void supervised_say(struct supervised *supervised, const char *what)
{
    notify(supervised, what, -1);
}

void supervised_store(struct supervised *supervised, const char *name, int descriptor)
{
    char text[MESSAGE_BYTES];

    snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%.127s", name);
    notify(supervised, text, descriptor);
}

void supervised_forget(struct supervised *supervised, const char *name)
{
    char text[MESSAGE_BYTES];

    snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%.127s", name);
    notify(supervised, text, -1);
}

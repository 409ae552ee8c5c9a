#include "listener.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

static int close_with_errno(int fd, int reason)
{
    close(fd);
    errno = reason;
    return -ISOSCOPE_SYSTEM;
}

int listener_open(int *out, uint16_t *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(*port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;

    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    /* A port whose last connections still linger in TIME_WAIT is free; one with a listener is not.
     */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        return close_with_errno(fd, errno);
    *port = ntohs(address.sin_port);
    *out = fd;
    return 0;
}

uint16_t listener_port(int fd)
{
    struct sockaddr_in address = { .sin_family = AF_UNSPEC };
    socklen_t size = sizeof(address);

    getsockname(fd, (struct sockaddr *)&address, &size);
    return ntohs(address.sin_port);
}

/* Nobody listens to it any more, and it is gone. Else errno tells. */
static bool remove_stale(const struct sockaddr_un *address)
{
    struct stat file;

    if (lstat(address->sun_path, &file) < 0)
        return errno == ENOENT;
    if (!S_ISSOCK(file.st_mode)) {
        errno = EEXIST;
        return false;
    }

    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int problem = fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0
                      ? errno
                      : EADDRINUSE;
    if (fd >= 0)
        close(fd);
    if (problem == ECONNREFUSED)
        return unlink(address->sun_path) == 0;
    errno = problem == EAGAIN ? EADDRINUSE : problem; /* EAGAIN: its queue is full */
    return false;
}

int listener_open_unix(int *out, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    if (strlen(path) >= sizeof(address.sun_path))
        return close_with_errno(fd, ENAMETOOLONG);
    strcpy(address.sun_path, path);
    /* The file takes the socket's own mode: at no moment may others connect. */
    if (!remove_stale(&address) || fchmod(fd, S_IRUSR | S_IWUSR) < 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0)
        return close_with_errno(fd, errno);
    *out = fd;
    return 0;
}

#include "host_socket.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 }; /* a start that finds it full does not wait, and is not sampled */

static bool remove_stale(const struct sockaddr_un *address)
{
    struct stat file;
    int fd, problem;

    if (lstat(address->sun_path, &file) < 0)
        return errno == ENOENT;
    if (!S_ISSOCK(file.st_mode)) {
        errno = EEXIST;
        return false;
    }
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    problem = fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0
                  ? errno
                  : EADDRINUSE;
    if (fd >= 0)
        close(fd);
    if (problem == ECONNREFUSED)
        return unlink(address->sun_path) == 0;
    /* EAGAIN: its queue is full. EPROTOTYPE: somebody listens for another kind of client. */
    errno = problem == EAGAIN || problem == EPROTOTYPE ? EADDRINUSE : problem;
    return false;
}

int host_socket_open(int *out, const char *path, bool everybody)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    mode_t mode = everybody ? 0666 : S_IRUSR | S_IWUSR;
    mode_t mask = umask(0);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), problem;

    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    /* The file takes the socket's own mode: at no moment has it another one. */
    if (fd >= 0 && remove_stale(&address) && fchmod(fd, mode) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0) {
        umask(mask);
        *out = fd;
        return 0;
    }
    problem = errno;
    umask(mask);
    if (fd >= 0)
        close(fd);
    errno = problem;
    return -ISOSCOPE_SYSTEM;
}

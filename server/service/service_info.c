#include "service_info.h"

#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void free_text(char **text)
{
    free(*text);
}

/* A fifo or a device keeps its name: only a regular file can be replaced. */
static bool in_place(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && !S_ISREG(file.st_mode);
}

/* A new file beside path; its name in *name. Returns the descriptor, or -1. */
static int make_beside(char **name, const char *path)
{
    if (asprintf(name, "%s.XXXXXX", path) < 0) {
        *name = NULL;
        errno = ENOMEM;
        return -1;
    }
    return mkostemp(*name, O_CLOEXEC);
}

const char *service_info_problem(int error)
{
    return error == ENXIO ? "it is a pipe without a reader; start the reader first, or name a file"
                          : strerror(error);
}

int service_info_check(const char *path)
{
    CLEANUP(free_text) char *name = NULL;
    struct stat file;

    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode)) {
        errno = EISDIR;
        return -ISOSCOPE_SYSTEM;
    }
    if (in_place(path))
        return access(path, W_OK) == 0 ? 0 : -ISOSCOPE_SYSTEM;

    int fd = make_beside(&name, path);
    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    close(fd);
    unlink(name);
    return 0;
}

static bool write_text(int fd, const char *uri)
{
    /* The token is as good as a password: nobody else may read it. mkostemp gives 0600. */
    return dprintf(fd, "{\"uri\":\"%s\"}\n", uri) > 0;
}

static int write_in_place(const char *path, const char *uri)
{
    /* A pipe's open would wait for a reader who may never come; it says ENXIO instead. */
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return -ISOSCOPE_SYSTEM;

    bool written = write_text(fd, uri);
    return close(fd) == 0 && written ? 0 : -ISOSCOPE_SYSTEM;
}

int service_info_write(const char *path, const char *uri)
{
    CLEANUP(free_text) char *name = NULL;

    if (in_place(path))
        return write_in_place(path, uri);

    int fd = make_beside(&name, path);
    if (fd < 0)
        return -ISOSCOPE_SYSTEM;

    bool written = write_text(fd, uri);
    if (close(fd) < 0 || !written || rename(name, path) < 0) {
        int reason = errno;
        unlink(name);
        errno = reason;
        return -ISOSCOPE_SYSTEM;
    }
    return 0;
}

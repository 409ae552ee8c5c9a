#include "source_text.h"

#include "../../feed/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* The part of file that is relative to root; NULL: it lies elsewhere. */
static const char *below(const char *root, const char *file)
{
    size_t length = strlen(root);

    if (*file != '/')
        return file;
    while (length && root[length - 1] == '/')
        length--;
    return !strncmp(file, root, length) && file[length] == '/' ? file + length + 1 : NULL;
}

/*
 * The kernel itself holds every step, ".." and links included, below the folder. Where it does not
 * know the call (before 5.6, or in a strict container) there is no source: asking first and opening
 * then can be tricked. O_NONBLOCK: a fifo would wait for ever.
 */
static int open_below(int folder, const char *path)
{
    struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };

    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

static bool read_whole(int fd, char *text, size_t length)
{
    size_t filled = 0;

    while (filled < length) {
        ssize_t count = read(fd, text + filled, length - filled);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        filled += (size_t)count;
    }
    return true;
}

char *source_text_read(const char *root, const char *file, size_t *length)
{
    const char *path = below(root, file);
    CLEANUP(close_fd) int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(close_fd) int fd = path && folder >= 0 ? open_below(folder, path) : -1;
    struct stat info;
    char *text;

    if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) ||
        info.st_size > SOURCE_TEXT_BYTES_MAX || !(text = calloc((size_t)info.st_size + 1, 1)))
        return NULL;
    if (!read_whole(fd, text, (size_t)info.st_size)) {
        free(text);
        return NULL;
    }
    *length = (size_t)info.st_size;
    return text;
}

#include "root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Without waiting: for a pipe's writer, a tape, or a terminal's line. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static bool same_mounts(int32_t pid)
{
    char path[32];
    struct stat ours, theirs;

    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
    return stat(path, &theirs) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 &&
           theirs.st_ino == ours.st_ino;
}

static bool same_directory(int root, const char *path)
{
    struct stat one, other;

    return fstat(root, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int root_of(int32_t pid)
{
    char path[32];
    int root;

    if (pid <= 0)
        return ROOT_OURS;
    snprintf(path, sizeof(path), "/proc/%d/root", pid);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return ROOT_OURS;
    /* The same directory may have other things mounted on it in another namespace. */
    if (same_directory(root, "/") && same_mounts(pid)) {
        close(root);
        return ROOT_OURS;
    }
    return root;
}

void root_close(int root)
{
    if (root != ROOT_OURS)
        close(root);
}

void root_closep(int *root)
{
    root_close(*root);
}

/* RESOLVE_IN_ROOT: an absolute link in a container means the container's root, not ours. */
static int open_in(int root, const char *path)
{
    struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT };

    return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static const char *reason_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "no such file";
    case EACCES:
    case EPERM:
        return "permission denied";
    case ENXIO:
        return "not a regular file";
    case EMFILE:
    case ENFILE:
        return "too many files are open";
    default:
        return "the file cannot be opened";
    }
}

int root_open(int root, const char *path, const char **reason)
{
    int fd = root == ROOT_OURS ? open(path, OPEN_FLAGS) : open_in(root, path);
    struct stat file;

    if (fd < 0) {
        *reason = reason_of(errno);
        return -1;
    }
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        *reason = "not a regular file";
        return -1;
    }
    return fd;
}

#include "record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int append(int fd, const struct bytes *blocks)
{
    size_t done = 0;

    while (done < blocks->count) {
        ssize_t count = write(fd, blocks->data + done, blocks->count - done);

        if (count > 0)
            done += (size_t)count;
        else if (count == 0)
            return ENOSPC;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

static bool may_replace(const char *path)
{
    struct stat there;

    return stat(path, &there) < 0 || S_ISREG(there.st_mode);
}

int record_file_create(struct record_file *file, const char *path, const struct bytes *first)
{
    char part[PATH_MAX + 32];
    int problem = 0, fd;

    if (strlen(path) >= sizeof(file->path))
        return ENAMETOOLONG;
    if (!may_replace(path))
        return EEXIST;
    snprintf(part, sizeof(part), "%s.%d.part", path, (int)getpid());
    unlink(part); /* of a process that had our number and was killed just here */
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    problem = append(fd, first);
    if (!problem && rename(part, path) < 0)
        problem = errno;
    if (problem) {
        unlink(part);
        close(fd);
        return problem;
    }
    file->fd = fd;
    file->bytes = first->count;
    snprintf(file->path, sizeof(file->path), "%s", path);
    return 0;
}

int record_file_append(struct record_file *file, const struct bytes *blocks)
{
    int problem = append(file->fd, blocks);

    if (!problem)
        file->bytes += blocks->count;
    else if (ftruncate(file->fd, (off_t)file->bytes) < 0)
        return errno; /* a reader leaves out the incomplete block */
    return problem;
}

void record_file_close(struct record_file *file)
{
    if (file->fd)
        close(file->fd);
    file->fd = 0;
}

const char *record_file_reason(int problem)
{
    if (problem == ENOSPC)
        return "the disk is full";
    if (problem == EDQUOT)
        return "the disk quota is used up";
    if (problem == EFBIG)
        return "the file has reached the largest size that is allowed (ulimit -f)";
    return strerror(problem);
}

#include "task_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STATUS_BYTES = 4096 };

static _Atomic uint32_t kept; /* files that are open */

/* Half of what there is: sockets of programs and clients want the rest. */
static bool may_keep(void)
{
    struct rlimit files;

    return getrlimit(RLIMIT_NOFILE, &files) == 0 && kept < files.rlim_cur / 2;
}

static int open_file(int32_t pid, int32_t tid, const char *name)
{
    char path[96];

    snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%" PRId32 "/%s", pid, tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

long task_kept_read(struct task_kept *file, int32_t pid, int32_t tid, const char *name, char *text,
                    size_t bytes)
{
    int fd = file->fd ? file->fd - 1 : open_file(pid, tid, name);
    ssize_t got;

    if (fd < 0)
        return -errno;
    got = pread(fd, text, bytes - 1, 0);
    if (got < 0)
        got = -errno;
    else
        text[got] = 0;
    if (file->fd)
        return got;
    if (got > 0 && may_keep()) {
        file->fd = fd + 1;
        kept++;
    } else {
        close(fd);
    }
    return got;
}

void task_kept_close(struct task_kept *file)
{
    if (!file->fd)
        return;
    close(file->fd - 1);
    file->fd = 0;
    kept--;
}

/* "NSpid:	4242	17	3": from our namespace inwards; the last is what the thread calls
 * itself. */
static int32_t innermost(const char *status)
{
    const char *line = strstr(status, "\nNSpid:");
    const char *end = line ? strchr(line + 1, '\n') : NULL;

    if (!end)
        return 0;
    while (end[-1] >= '0' && end[-1] <= '9')
        end--;
    return atoi(end);
}

int32_t task_number_there(int32_t pid, int32_t tid)
{
    struct task_kept once = { 0 };
    char text[STATUS_BYTES];
    long got = task_kept_read(&once, pid, tid, "status", text, sizeof(text));

    task_kept_close(&once);
    return got > 0 ? innermost(text) : 0;
}

int32_t task_number_here(int32_t pid, int32_t tid)
{
    struct dirent *entry;
    int32_t found = 0;
    char path[64];
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", pid);
    tasks = opendir(path);
    while (tasks && !found && (entry = readdir(tasks))) {
        int32_t number = atoi(entry->d_name);

        if (number && task_number_there(pid, number) == tid)
            found = number;
    }
    if (tasks)
        closedir(tasks);
    return found;
}

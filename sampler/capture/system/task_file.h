/*
 * task_file.h - what the kernel tells of one thread of this process: /proc/self/task/TID/...
 *
 * Threads    Any; no libc beyond strings.
 * Errors     task_file_read: the kernel's -errno.
 */
#ifndef ISOSCOPE_TASK_FILE_H
#define ISOSCOPE_TASK_FILE_H

#include "number.h"

#include "../../feed/sys.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { TASK_PATH_BYTES = 64 };

/* tail: "" or "/status" and the like. */
SIGNAL_SAFE_INLINE void task_file_path(char out[TASK_PATH_BYTES], int32_t tid, const char *tail)
{
    strcpy(out, "/proc/self/task/");
    strcpy(number_put(out + strlen(out), tid), tail);
}

SIGNAL_SAFE_INLINE long task_file_open(int32_t tid, const char *tail)
{
    char path[TASK_PATH_BYTES];

    task_file_path(path, tid, tail);
    return sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

/* At most so many bytes, from its beginning; no 0 behind them. Returns how many. */
SIGNAL_SAFE_INLINE long task_file_read(int32_t tid, const char *tail, char *out, uint32_t bytes)
{
    long fd = task_file_open(tid, tail), got;

    if (fd < 0)
        return fd;
    got = sys_call3(SYS_read, fd, out, bytes);
    sys_call1(SYS_close, fd);
    return got;
}

#endif

/*
 * task_files.h - what the kernel tells of a thread of another process, read again and again.
 *
 *   /proc/PID/task/TID/schedstat, syscall, stat -> text
 *
 * Ownership  A file stays open from one read to the next while there are descriptors to spare.
 *            task_file_forget closes it.
 * Threads    A file: one at a time.
 * Errors     -errno: -ESRCH or -ENOENT when the thread is gone, -EACCES or -EPERM when the kernel
 *            refuses.
 */
#ifndef ISOSCOPE_TASK_FILES_H
#define ISOSCOPE_TASK_FILES_H

#include <stddef.h>
#include <stdint.h>

struct task_kept {
    int fd; /* + 1; 0: it is not open */
};

/* Reads from the beginning and ends the text with 0. Returns its length. */
long task_kept_read(struct task_kept *file, int32_t pid, int32_t tid, const char *name, char *text,
                    size_t bytes);
void task_kept_close(struct task_kept *file);

/* The thread that the process itself calls tid, in a pid namespace of its own, by the number that
 * it has here; 0: there is none. */
int32_t task_number_here(int32_t pid, int32_t tid);
/* The other way: what the thread that has this number here calls itself; 0: it is gone. */
int32_t task_number_there(int32_t pid, int32_t tid);

#endif

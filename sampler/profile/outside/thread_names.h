/*
 * thread_names.h - names of threads that have not ticked for a while, read from outside.
 *
 *   /proc/PID/task/TID/comm -> feed -> drain.h
 *
 * A thread tells its name at its ticks; those that sleep would keep the one they had then.
 *
 * Threads    thread_name_read: any. The rest: the holder of the collector's round.
 * Errors     None: a name that cannot be read stays what it was.
 */
#ifndef ISOSCOPE_THREAD_NAMES_H
#define ISOSCOPE_THREAD_NAMES_H

#include "../../feed/feed_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_names {
    int64_t looked_us;
    uint32_t next; /* slot */
};

/* pid: as it is seen from here. all: those that have a name, too, for it may have changed. */
void thread_names_follow(struct thread_names *names, struct feed_reader *reader, int32_t pid,
                         bool all, int64_t now_us);
/* Gives a thread without a name the one that it has by now. A tick tells it before its sample: where
 * there is a sample and no name, the thread was looked at before that, or has never ticked. */
void thread_name_complete(struct feed_reader *reader, uint32_t slot, int32_t pid,
                          struct feed_thread_view *thread);
/* The kernel's name of a thread; 0-terminated. False: it cannot be read. */
bool thread_name_read(int32_t pid, int32_t tid, char name[16]);

#endif

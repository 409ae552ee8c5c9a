/*
 * target_threads.h - the threads of a target: their slots in the feed, and how much of the processor each has used.
 *
 * Units      *_ns: nanoseconds of CPU time.
 * Ownership  All zeros is none; target_threads_free.
 * Threads    One at a time. A thread's place holds until the next one is met.
 * Errors     NULL: there is no memory. slot 0: there is no room in the feed, which is counted once.
 */
#ifndef ISOSCOPE_TARGET_THREADS_H
#define ISOSCOPE_TARGET_THREADS_H

#include "../../capture/unwind/unwind.h"
#include "../../feed/feed_writer.h"
#include "../../feed/record.h"
#include "../../profile/base/map64.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct target_thread {
    pid_t tid; /* 0: the place is free */
    uint32_t slot;
    bool seen;               /* at this look */
    int clock_file;          /* + 1; its schedstat; 0: it is not open */
    bool clock_gone;         /* it ended before it could be asked: a sample stands for a period */
    uint64_t used_ns;        /* when last asked */
    uint64_t told_ns;        /* of that, what samples stand for */
    uint64_t carry_ns;       /* periods that were not whole */
    uint32_t heap, expected; /* samples to come in that heap, which share what it has used */
    struct outer_frames outer_frames;
    struct target_wait *wait; /* target_waits.c; NULL: it has not left a processor yet */
};

struct target_threads {
    struct target_thread *list;
    uint32_t count, room, live;
    struct map64 places; /* tid -> place + 1; 0: it has ended */
};

/* What a sample stands for. */
struct target_weight {
    uint64_t cpu_ns;
    uint16_t more_running, more_runnable;
    enum feed_state state;
    enum feed_kind kind;
};

/* New ones get a slot and their name. born: it began since the others were met; else what it used before is nobody's. */
struct target_thread *target_threads_meet(struct target_threads *threads,
                                          struct feed_writer *writer, pid_t pid, pid_t tid,
                                          bool born);
/* NULL: it is not known. */
struct target_thread *target_threads_find(struct target_threads *threads, pid_t tid);
void target_threads_end(struct target_threads *threads, struct feed_writer *writer, pid_t tid);
void target_threads_end_all(struct target_threads *threads, struct feed_writer *writer);
/* Between the two all that are there are marked seen; the others have ended. */
void target_threads_begin_look(struct target_threads *threads);
void target_threads_end_look(struct target_threads *threads, struct feed_writer *writer);
void target_threads_free(struct target_threads *threads);

/* What it has used, by the kernel's count, and no sample stands for. */
uint64_t target_threads_used(struct target_thread *thread, pid_t pid);
/* One more sample of it comes in this heap: they share that. */
void target_threads_expect(struct target_thread *thread, pid_t pid, uint32_t heap);
/* All of it for one sample, or its share. */
struct target_weight target_threads_weigh(struct target_thread *thread, struct feed_writer *writer,
                                          pid_t pid, bool wall, uint32_t period_us);

#endif

/*
 * feed_loops.h - the program's side of the table of loops.
 *
 *   capture/loops -> here -> feed -> feed_reader_loops.h in the service
 *
 * An entry is claimed, filled in, published, and ended. The service gives it back when it has seen that.
 *
 * Threads    Any claims. The rest of a loop is one thread's at a time.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_FEED_LOOPS_H
#define ISOSCOPE_FEED_LOOPS_H

#include "feed_writer.h"

struct feed_loop_start {
    uint32_t slot; /* of the thread; 0: it has none */
    int32_t tid;
    uint32_t name; /* in names; 0: its thread's */
    enum feed_loop_kind kind;
    uint32_t jank_ms, stall_ms, hang_ms, dead_ms; /* 0: the service's */
};

/* Idle, and the service may look at it. NULL: the table is full, which is counted. */
SIGNAL_SAFE struct feed_loop *feed_loops_begin(struct feed_writer *writer,
                                               const struct feed_loop_start *start);
/* Nothing more is written there by the caller. */
SIGNAL_SAFE void feed_loops_end(struct feed_loop *loop);

#endif

/*
 * capture.h - a sample, or another record, of the calling thread into its ring.
 *
 *   handler.c (whether, and what it stands for) -> capture -> unwind -> ring
 *   a wrapped call, or one of isoscope.h -------> capture_record -> ring
 *
 * There is one way from registers to a sample, whatever it is taken for.
 *
 * Threads    The thread itself: a tick in it, or its own code. Who comes in the middle of the
 *            other's write is refused, and counted (FEED_LOSS_BUSY).
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_CAPTURE_H
#define ISOSCOPE_CAPTURE_H

#include "threads/threads.h"
#include "wall/answer.h"

#include "../feed/ring.h"
#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Where the thread is. */
struct capture_registers {
    const ucontext_t *context;
    bool roomy; /* on a stack of ours */
};

/* A place in the ring, from capture_begin until capture or capture_cancel. */
struct capture {
    enum feed_kind kind;
    uint32_t slot, frames_max;
    struct sampled_thread *sampled;
    struct ring_writer ring;
    struct feed_sample *sample;
    uint64_t began_ns;      /* CLOCK_MONOTONIC: when its stack was walked */
    union feed_words words; /* of feed_kind_is_own: the caller fills it in */
};

/* slot: the calling thread's. Whoever calls it is counted in sampler.handlers. False: there is no
 * room, which is counted (as all losses here are, but those of feed_kind_is_own, which are the caller's
 * to count). What the sample would have stood for is then the next one's. */
SIGNAL_SAFE bool capture_begin(struct capture *capture, enum feed_kind kind, uint32_t slot);
SIGNAL_SAFE void capture_cancel(struct capture *capture);
/* False: it could not be taken, which is counted. */
SIGNAL_SAFE bool capture(struct capture *capture, const struct sample_weight *weight,
                         const struct capture_registers *registers);

/* From the thread's own code, at any time. The record begins like feed_timed, and its time is
 * filled in here. False: it is lost, which is counted; or the thread is not sampled. */
SIGNAL_SAFE bool capture_record(struct feed_timed *record);

#endif

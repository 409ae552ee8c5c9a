/*
 * own_sample.h - a sample that a thread takes of itself, in the middle of its own code.
 *
 *   allocations.c, waits.c (what is told, and what it stands for) -> own_sample -> capture -> ring
 *
 * All signals are blocked meanwhile, so that what is done here is done as in a tick.
 *
 * Threads    The thread itself.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_SAMPLE_H
#define ISOSCOPE_OWN_SAMPLE_H

#include "../capture.h"
#include "../sampler_state.h"

struct own_sample {
    enum feed_kind kind;
    uint64_t amount; /* feed_sample.cpu_ns */
    union feed_words words;
    uint64_t address;    /* of an allocation */
    uint32_t level;      /* the same: countdown_level */
    ucontext_t *context; /* arch_here */
    uint32_t slot;
    bool roomy;
};

SIGNAL_SAFE void own_sample_take(struct own_sample *sample);

/* A forked child's memory is its parent's until it begins; one made without libc never does. */
SIGNAL_SAFE_INLINE bool own_sample_is_possible(void)
{
    return sampler_running() && sampler.pid == (int32_t)sys_call0(SYS_getpid);
}

#endif

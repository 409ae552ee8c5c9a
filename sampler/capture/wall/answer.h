/*
 * answer.h - what wall mode asks of the program: that a running thread's tick says where it was.
 *
 *   the service's rounds (profile/wall) -> feed_thread.owed -> wall_answer -> the sample
 *
 * Rounds and sleepers are the service's work. What a thread owes for rounds in which it ran, or
 * wanted a processor, is paid by its next CPU-time tick.
 *
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_ANSWER_H
#define ISOSCOPE_ANSWER_H

#include "../../feed/record.h"
#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What a sample stands for: CPU time, and how many more of it, as in feed_sample. */
struct sample_weight {
    uint64_t cpu_ns;
    uint16_t more_running, more_runnable;
    uint8_t state; /* feed_state */
};

SIGNAL_SAFE_INLINE bool wall_is_owed(struct feed_thread *thread)
{
    return atomic_load_explicit(&thread->owed, memory_order_relaxed) != 0;
}

/* Says which rounds a sample stands for; in CPU mode there are none. Returns what was owed. */
SIGNAL_SAFE_INLINE uint32_t wall_answer(struct sample_weight *weight, struct feed_thread *thread)
{
    uint32_t owed =
        wall_is_owed(thread) ? atomic_exchange_explicit(&thread->owed, 0, memory_order_relaxed) : 0;
    uint32_t running = owed % FEED_OWED_RUNNABLE;
    uint32_t runnable = owed / FEED_OWED_RUNNABLE;

    weight->state = running || !runnable ? FEED_STATE_RUNNING : FEED_STATE_RUNNABLE;
    weight->more_running = (uint16_t)(running ? running - 1 : 0);
    weight->more_runnable = (uint16_t)(running || !runnable ? runnable : runnable - 1);
    return owed;
}

/* There was no sample: the next one will answer. */
SIGNAL_SAFE_INLINE void wall_owe_again(struct feed_thread *thread, uint32_t owed)
{
    if (owed)
        atomic_fetch_add_explicit(&thread->owed, owed, memory_order_relaxed);
}

#endif

/*
 * wall.h - wall mode: each period a round, and in each round a sample of every thread
 * that thread_choice.h has chosen.
 *
 *   sampler.c -> wall_round -> a thread that runs: the tick signal, and the handler samples it
 *                           -> a thread that sleeps: its stack, read from here, into ring 0
 *
 * A thread that sleeps is never signalled: poll, nanosleep and others would return EINTR. Its CPU
 * clock tells: as long as that stands still, the thread is where it was, and the sample before
 * holds. A thread that wants a processor gets one signal, which waits with it.
 *
 * Threads    The sampler's thread; wall_answer and wall_tick_is_stale: the handler.
 * Errors     None: what could not be sampled is counted by cause.
 */
#ifndef ISOSCOPE_WALL_H
#define ISOSCOPE_WALL_H

#include "../modules/modules.h"
#include "../threads/threads.h"
#include "../unwind/named_code.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In watch.owed: rounds that the thread's next sample stands for. */
enum {
    WALL_OWED_RUNNING = 1,
    WALL_OWED_RUNNABLE = 1 << 16,
    WALL_OWED_MAX = 255, /* of either; a thread that blocks the tick signal never answers */
};

/* Samples all threads now. True when a stack led into code that is not known: the modules should be
 * looked at. missed: rounds that should have been and were not. */
bool wall_round(struct threads *threads, struct modules *modules, const struct named_code *named,
                uint64_t missed);
/* Wall mode ends, or the service is another: nothing is known of any thread from now on. */
void wall_forget(struct threads *threads);
/* In a forked child, before its threads are forgotten: the parent's descriptors are not here. */
void wall_forget_parent(struct threads *threads);

/* A signal of ours whose rounds were answered by the one before. */
SIGNAL_SAFE_INLINE bool wall_tick_is_stale(const struct watch *watch, const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == watch &&
           !atomic_load_explicit(&watch->owed, memory_order_relaxed);
}

/* Says in a sample which rounds it stands for; in CPU mode there are none. */
SIGNAL_SAFE_INLINE void wall_answer(struct feed_sample *sample, struct watch *watch)
{
    uint32_t owed = atomic_load_explicit(&watch->owed, memory_order_relaxed);
    uint32_t running, runnable;

    if (owed)
        owed = atomic_exchange_explicit(&watch->owed, 0, memory_order_relaxed);
    running = owed % WALL_OWED_RUNNABLE;
    runnable = owed / WALL_OWED_RUNNABLE;
    sample->state = running || !runnable ? FEED_STATE_RUNNING : FEED_STATE_RUNNABLE;
    sample->more_running = (uint8_t)(running ? running - 1 : 0);
    sample->more_runnable = (uint8_t)(running || !runnable ? runnable : runnable - 1);
}

#endif

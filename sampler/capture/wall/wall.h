/*
 * wall.h - wall mode: each period a round, and in each round a sample of every thread
 * that thread_choice.h has chosen.
 *
 *   sampler.c -> wall_round -> a thread that runs: it owes a sample, which its next tick brings
 *                           -> a thread that sleeps: its stack, read from here, into ring 0
 *
 * Nobody is signalled from here: reads would come short, and poll, nanosleep and others would
 * return EINTR. A thread's CPU clock tells: as long as that stands still, the thread is where it
 * was, and the sample before holds. What a thread owes for the rounds that met it on a processor,
 * or in want of one, is paid by the next tick of its CPU-time timer, which says where it spends its
 * time; one that sleeps for long before it has a tick pays where it sleeps.
 *
 * Threads    The sampler's thread; wall_answer: the handler.
 * Errors     None: what could not be sampled is counted by cause.
 */
#ifndef ISOSCOPE_WALL_H
#define ISOSCOPE_WALL_H

#include "../modules/modules.h"
#include "../threads/threads.h"
#include "../unwind/named_code.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In watch.owed: rounds that the thread's next sample stands for. */
enum {
    WALL_OWED_RUNNING = 1,
    WALL_OWED_RUNNABLE = 1 << 16,
    WALL_OWED_MAX = 255, /* of either; a thread that blocks the tick's signal never answers */
};

/* Samples all threads now. True when a stack led into code that is not known: the modules should be
 * looked at. missed: rounds that should have been and were not. */
bool wall_round(struct threads *threads, struct modules *modules, const struct named_code *named,
                uint64_t missed);
/* Wall mode ends, or the service is another: nothing is known of any thread from now on. */
void wall_forget(struct threads *threads);
/* More is known of the code: sleepers' stacks are walked anew. */
void wall_look_again(const struct threads *threads);
/* In a forked child, before its threads are forgotten: the parent's descriptors are not here. */
void wall_forget_parent(void);

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

/*
 * threads.h - the threads that are sampled: one watch per feed slot.
 *
 *   pthread_create wrapper, /proc/self/task -> watch -> timer (sampler's thread) -> handler
 *
 * A watch goes NONE -> NEW (its thread, or the scan) -> ARMED (sampler: the timer runs)
 * -> ENDING (its thread) -> NONE (sampler: the timer is gone, the slot is the reader's).
 *
 * Threads    threads_enter, threads_leave: the thread itself. threads_poll and the rest:
 *            the sampler's thread. The handler reads its own thread's watch.
 * Errors     A thread that gets no slot or timer is not sampled; the loss is counted in the feed.
 */
#ifndef ISOSCOPE_THREADS_H
#define ISOSCOPE_THREADS_H

#include "overload.h"
#include "own_thread.h"
#include "rests.h"
#include "timer.h"

#include "../../feed/segment.h"
#include "../unwind/unwind.h"

#include <stdatomic.h>
#include <stdint.h>

enum watch_state { WATCH_NONE, WATCH_NEW, WATCH_ARMED, WATCH_ENDING };

/* Of a watch. A new thread's first tick comes after a part of a period, taken by chance, or no
 * thread would be seen that ends within its first period; the timer that brings it brings more of
 * its kind until the sampler's thread sets the period. They are no ticks. */
enum first_tick { FIRST_TICK_NONE, FIRST_TICK_AWAITED, FIRST_TICK_TAKEN };

struct watch {
    _Atomic uint32_t state;    /* watch_state */
    _Atomic uint32_t asked_sp; /* 1: the handler found its stack unknown; probe_sp lies in it */
    int32_t tid;
    bool scanned; /* found in /proc: it will not tell us when it ends */
    struct timer timer;
    struct stack_range stack;
    uint64_t probe_sp;
    _Atomic uint32_t first_tick; /* enum first_tick */
    bool begun;                  /* had a timer before */
    uint32_t first_us, first_period_us;
    struct root_side root_side; /* the handler's */
    struct load load;
    _Atomic uint32_t owed;  /* wall.h: rounds that its next sample stands for */
    uint64_t cpu_before_ns; /* the handler's: thread CPU time at the last sample */
    uint64_t due_ns;        /* thread CPU time of the first tick; the interrupter's: of the next */
    uint64_t head_seen, cpu_seen_ns;  /* deaf.h's: its ring, and its CPU time when that moved */
    bool deaf;                        /* it blocks the tick's signal, and is counted */
    _Atomic(struct own_thread *) own; /* what it tells of itself; NULL: nothing */
    _Atomic uint32_t named;           /* 1: it gave itself a name, which is not the kernel's */
    char name[16];
};

enum { STRANGERS_MAX = 256 };

struct strangers {
    uint32_t count;
    int32_t tids[STRANGERS_MAX];
};

struct threads {
    struct segment *segment;
    struct watch watches[FEED_THREADS_MAX]; /* by feed slot */
    uint16_t slot_of_fd[UINT16_MAX + 1];    /* of perf events; 0: none */
    _Atomic uint32_t used;                  /* watches [1, used) were used at some time */
    _Atomic uint32_t live;
    struct timer_rights rights;
    int signal_number;
    uint64_t blocked;   /* what the thread blocks that was last found deaf: a kernel's set */
    uint32_t period_us; /* 0: paused */
    bool timers_rest;   /* wall mode: the sampler's thread asks for ticks */
    uint32_t name_next; /* slot whose name is looked at next */
    struct strangers strangers; /* seen by the last scan, and not watched */
    struct rests rests;         /* threads that are about to exec */
    uint32_t random;
};

/* The calling thread is to be sampled. stack: its own. Returns its slot; 0: not sampled. */
uint32_t threads_enter(struct threads *threads, int32_t tid, const struct stack_range *stack);
/* Another thread is to be sampled, as threads_enter. scanned: it will not tell us when it ends. */
uint32_t threads_take(struct threads *threads, int32_t tid, const struct stack_range *stack,
                      bool scanned);
/* The calling thread ends, or must not be sampled any more. */
void threads_leave(struct threads *threads, uint32_t slot);

/* The slot of the thread; 0: it has none. Any thread. */
uint32_t threads_find(struct threads *threads, int32_t tid);
/* The calling thread's name from now on, whatever the kernel calls it. */
void threads_give_name(struct threads *threads, uint32_t slot, const char name[16]);

/* The slot a tick belongs to; 0: the signal is not one of our ticks. */
SIGNAL_SAFE uint32_t threads_slot_of_tick(const struct threads *threads, const void *siginfo);

/* Arms new threads, lets ended ones go, answers handlers that know no stack. */
void threads_poll(struct threads *threads);
/* Stops the timers of threads that ask for it (rests.h), and starts those that have done so. */
void threads_rest(struct threads *threads);
/* The interrupter's round: a tick to each thread that has used a period of CPU time since its last.
 * True when there is such a timer at all. */
bool threads_interrupt(struct threads *threads);
void threads_set_period(struct threads *threads, uint32_t period_us, bool timers_rest);
/* Gives threads that are overloaded by their ticks a longer period, and back. */
void threads_relieve(struct threads *threads);
/* Another tick signal: all timers are made anew. */
void threads_rearm(struct threads *threads, int signal_number);
/* Closes all timers and forgets all threads. */
void threads_stop(struct threads *threads);

#endif

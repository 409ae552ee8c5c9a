/*
 * threads.h - the threads that are sampled: one struct sampled_thread per feed slot.
 *
 *   pthread_create wrapper, a first tick, /proc/self/task -> sampled_thread -> handler
 *
 * Two clocks tick for a thread. The user clock (user_clock.h) is the kernel's gift to each thread,
 * so that nothing has to be done for it; the service holds its descriptor, and switches it. The
 * CPU-time timer (cpu_timer.h) is made when the thread is taken.
 *
 * A sampled_thread goes NONE -> ARMED (threads_take) -> ENDING -> NONE (threads_leave).
 *
 * Threads    threads_take: any thread, for itself or another, and the handler for its own.
 *            threads_leave: the thread itself, or whoever tends the sampler for one that has gone.
 *            threads_find: any. The rest: whoever tends the sampler (tend.h).
 * Errors     threads_new: 0 or -ISOSCOPE_NO_MEMORY. A thread that gets no slot or timer is not
 *            sampled; the loss is counted in the feed.
 */
#ifndef ISOSCOPE_THREADS_H
#define ISOSCOPE_THREADS_H

#include "account.h"
#include "by_slot.h"
#include "throttle.h"
#include "thread_annotations.h"
#include "switching.h"
#include "tracer.h"

#include "../../feed/feed_writer.h"
#include "../unwind/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Why a thread is sampled: bits of its sources, each for samples of one kind. Several may be on. */
enum {
    SOURCE_CPU = 1 << FEED_KIND_CPU,   /* both clocks tick for it, period by period */
    SOURCE_WALL = 1 << FEED_KIND_WALL, /* rounds ask, and a tick answers */
};

enum sampled_state { SAMPLED_NONE, SAMPLED_ARMED, SAMPLED_ENDING };

struct sampled_thread {
    _Atomic uint32_t state;   /* sampled_state */
    _Atomic uint32_t sources; /* SOURCE_ bits */
    bool stack_asked;         /* it was looked for, found or not */
    int64_t name_us;          /* when its name is looked at again */
    _Atomic int32_t tid;
    bool scanned;             /* nobody tells us when it ends */
    _Atomic int cpu_timer;    /* the kernel's number; -1: none */
    struct stack_range stack; /* the feed has a copy, which is not trusted: it can be written to */
    struct outer_frames outer_frames; /* the handler's */
    struct ring_busy ring_busy;       /* its ring's */
    struct ring_busy event_busy;      /* its ring of events' */
    struct throttle throttle;
    struct account account;
    _Atomic(struct thread_annotations *) own; /* what it tells of itself; NULL: nothing */
    _Atomic uint32_t named; /* 1: it gave itself a name, which is not the kernel's */
    char name[16];
};

enum {
    UNREGISTERED_MAX = 256,
    HINTS = 16384, /* a power of two, beyond the slots */
    HINT_LEFT = UINT16_MAX,
};

struct unregistered {
    uint32_t count;
    int32_t tids[UNREGISTERED_MAX];
};

/* What this process wants and may use. */
struct clock_rights {
    uint8_t wish;     /* feed_timer_wish */
    bool trap;        /* SIGTRAP is ours */
    uint8_t no_trap;  /* feed_timer_reason: why it is not */
    uint8_t no_clock; /* feed_timer_reason: why perf_event_open gave none */
    bool refused;     /* it did so for good */
};

struct threads {
    struct feed_writer *writer;
    struct by_slot sampled;       /* threads_at */
    _Atomic(uint16_t) *hints;     /* by tid: its slot, perhaps; HINT_LEFT: do not take it */
    _Atomic uint32_t used;        /* slots [1, used) were used at some time, and are there */
    _Atomic uint64_t leftover_ns; /* CPU time of ended threads that no sample has counted */
    _Atomic int64_t carry_ns;     /* of ended threads: account.h */
    struct switching switching;
    struct tracer tracer;
    struct clock_rights rights;
    uint32_t timer_us;          /* between two ticks of a CPU-time timer */
    int signal_number;          /* of CPU-time timers; 0: none was free */
    _Atomic uint32_t period_us; /* 0: paused */
    _Atomic bool begun;         /* somebody has wanted ticks */
    _Atomic uint32_t sources;   /* SOURCE_ bits that the service wants, of each thread */
    void *clock_page;           /* a forked child's user clock, until it has begun; NULL: none */
    struct unregistered unregistered; /* seen by the last scan, and not sampled */
};

/* The memory that it needs from the start; that which was made before is kept. */
int threads_new(struct threads *threads);
/* In a forked child: all threads and what is known of them, but the clocks, were the parent's. */
void threads_forget_parent(struct threads *threads);
/* The calling thread, a forked child's first, has CHILD_SLOT and ticks, before there is a feed.
 * waits: for its first tick, so that it needs a user clock too. Then either of the others.
 * False: there will be no tick. */
enum { CHILD_SLOT = 1 };
bool threads_arm_child(struct threads *threads, const struct stack_range *stack, uint32_t period_us,
                       bool waits);
/* There is a feed now. */
SIGNAL_SAFE void threads_begin_child(struct threads *threads);
/* There will be none. */
SIGNAL_SAFE void threads_disarm_child(struct threads *threads);

/* slot: one that threads_take has given out. */
SIGNAL_SAFE_INLINE struct sampled_thread *threads_at(const struct threads *threads, uint32_t slot)
{
    return by_slot_at(&threads->sampled, slot, sizeof(struct sampled_thread));
}

/* Threads that are known now. */
SIGNAL_SAFE_INLINE _Atomic uint32_t *threads_live(const struct threads *threads)
{
    return &threads->writer->header->status.live;
}

/* The service lets user clocks tick. */
SIGNAL_SAFE_INLINE bool threads_user_clock_runs(const struct threads *threads)
{
    return atomic_load_explicit(&threads->writer->header->control.clock_runs,
                                memory_order_relaxed) != 0;
}

/* The thread is to be sampled. stack: its own, zeros where it is not known. scanned: it will not
 * tell us when it ends. Returns its slot; 0: not sampled. */
SIGNAL_SAFE uint32_t threads_take(struct threads *threads, int32_t tid,
                                  const struct stack_range *stack, bool scanned);
/* What the calling thread has used until now counts for nothing. */
void threads_count_from_now(struct threads *threads, uint32_t slot);
/* It ends, or must not be sampled any more. True: there is news for the service. */
SIGNAL_SAFE bool threads_leave(struct threads *threads, uint32_t slot);

/* The slot of the thread; 0: it has none. */
SIGNAL_SAFE uint32_t threads_find(struct threads *threads, int32_t tid);
/* The calling thread's slot, in the handler; a thread that nobody told of is taken. 0: none. */
SIGNAL_SAFE uint32_t threads_slot_of_tick(struct threads *threads, int32_t process);
/* The calling thread's name from now on, whatever the kernel calls it. */
void threads_give_name(struct threads *threads, uint32_t slot, const char name[16]);

/* Opens the user clock of the calling thread and its threads to come, which ticks from now on.
 * Returns its descriptor, for the service, or -1. */
SIGNAL_SAFE int threads_open_clock(struct threads *threads, uint32_t period_us, bool runs);
/* Tells the service whether a user clock is wanted, and why it is not. */
SIGNAL_SAFE void threads_report(struct threads *threads);

SIGNAL_SAFE void threads_set_period(struct threads *threads, uint32_t period_us, uint32_t sources);
/* Gives threads whose ticks take too much of their time a longer period, and back; and leaves the
 * user clock, or comes back to it, as switching.h says. True: there is news for the service. */
SIGNAL_SAFE bool threads_relieve(struct threads *threads);
/* Another signal for the timers, which are all made anew. */
SIGNAL_SAFE void threads_rearm(struct threads *threads, int signal_number);
/* The feed is another one, and empty: those that are sampled get the slots there that they have.
 */
SIGNAL_SAFE void threads_enter_feed(struct threads *threads);
/* Closes all timers and forgets all threads. */
SIGNAL_SAFE void threads_stop(struct threads *threads);

#endif

/*
 * threads.h - the threads that are sampled: one watch per feed slot.
 *
 *   pthread_create wrapper, a first tick, /proc/self/task -> watch -> handler
 *
 * Two clocks tick for a thread. The user clock (user_clock.h) is the kernel's gift to each thread,
 * so that nothing has to be done for it; its descriptor, the root, is held by the sampler's thread.
 * The CPU-time timer (cpu_timer.h) is made when the thread is taken.
 *
 * A watch goes NONE -> ARMED (threads_take) -> ENDING -> NONE (threads_leave).
 *
 * Threads    threads_take: any thread, for itself or another, and the handler for its own.
 *            threads_leave: the thread itself, or the sampler's for one that has gone.
 *            threads_find: any. The rest: the sampler's thread.
 * Errors     threads_new: 0 or -ISOSCOPE_NO_MEMORY. A thread that gets no slot or timer is not
 *            sampled; the loss is counted in the feed.
 */
#ifndef ISOSCOPE_THREADS_H
#define ISOSCOPE_THREADS_H

#include "account.h"
#include "by_slot.h"
#include "overload.h"
#include "own_thread.h"
#include "switching.h"
#include "tracer.h"

#include "../../feed/segment.h"
#include "../unwind/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum watch_state { WATCH_NONE, WATCH_ARMED, WATCH_ENDING };

struct watch {
    _Atomic uint32_t state;    /* watch_state */
    _Atomic uint32_t asked_sp; /* 1: the handler found its stack unknown; probe_sp lies in it */
    _Atomic int32_t tid;
    bool scanned;          /* nobody tells us when it ends */
    _Atomic int cpu_timer; /* the kernel's number; -1: none */
    int root;              /* of a user clock of its own; -1: it has inherited one, or none */
    struct stack_range stack;
    uint64_t probe_sp;
    struct root_side root_side; /* the handler's */
    struct load load;
    struct account account;
    _Atomic uint32_t owed;            /* wall.h: rounds that its next sample stands for */
    _Atomic(struct own_thread *) own; /* what it tells of itself; NULL: nothing */
    _Atomic uint32_t named;           /* 1: it gave itself a name, which is not the kernel's */
    char name[16];
};

enum {
    STRANGERS_MAX = 256,
    HINTS = 16384, /* a power of two, beyond the slots */
    HINT_LEFT = UINT16_MAX,
};

struct strangers {
    uint32_t count;
    int32_t tids[STRANGERS_MAX];
};

/* What this process wants and may use. */
struct clock_rights {
    uint8_t wish;    /* feed_timer_wish */
    bool trap;       /* SIGTRAP is ours */
    uint8_t no_trap; /* feed_timer_reason: why it is not */
    bool refused;    /* perf_event_open was, for good */
};

struct threads {
    struct segment *segment;
    struct by_slot watches;   /* threads_watch */
    _Atomic(uint16_t) *hints; /* by tid: its slot, perhaps; HINT_LEFT: do not take it */
    _Atomic uint32_t used;    /* watches [1, used) were used at some time, and are there */
    _Atomic uint32_t live;
    _Atomic uint64_t leftover_ns; /* CPU time of ended threads that no sample has counted */
    _Atomic uint32_t short_ended; /* threads that lived for less than a period */
    uint32_t short_seen, short_looks, random; /* vary_root's */
    _Atomic int64_t carry_ns;                 /* of ended threads: account.h */
    struct switching switching;
    struct tracer tracer;
    struct clock_rights rights;
    uint32_t timer_us; /* between two ticks of a CPU-time timer */
    int signal_number; /* of CPU-time timers; 0: none was free */
    int root;          /* the user clock's descriptor, in the sampler's thread's table; -1: none */
    int32_t root_tid;  /* the thread that has it, and gave it to others */
    uint32_t root_us;  /* the period that user clocks are opened with */
    bool root_runs;    /* user clocks tick */
    bool wants_roots;  /* threads are there that have not inherited it */
    bool gave_root_up; /* for its switches, of the only thread */
    _Atomic uint32_t period_us; /* 0: paused */
    bool traced;                /* by a debugger */
    bool wall;                  /* wall mode: rounds ask, and CPU-time timers answer */
    int32_t sampler_tid;        /* our own thread's */
    uint32_t name_next;         /* slot whose name is looked at next */
    struct strangers strangers; /* seen by the last scan, and not watched */
};

/* The memory that it needs from the start; that which was made before is kept. */
int threads_new(struct threads *threads);
/* In a forked child: all threads and what is known of them, but the clocks, were the parent's. */
void threads_forget_parent(struct threads *threads);

/* slot: one that threads_take has given out. */
SIGNAL_SAFE_INLINE struct watch *threads_watch(const struct threads *threads, uint32_t slot)
{
    return by_slot_at(&threads->watches, slot, sizeof(struct watch));
}

/* The thread is to be sampled. stack: its own, zeros where it is not known. scanned: it will not
 * tell us when it ends. Returns its slot; 0: not sampled. */
SIGNAL_SAFE uint32_t threads_take(struct threads *threads, int32_t tid,
                                  const struct stack_range *stack, bool scanned);
/* What the calling thread has used until now counts for nothing. */
void threads_count_from_now(struct threads *threads, uint32_t slot);
/* It ends, or must not be sampled any more. True: there is news for threads_poll. */
bool threads_leave(struct threads *threads, uint32_t slot);

/* The slot of the thread; 0: it has none. */
SIGNAL_SAFE uint32_t threads_find(struct threads *threads, int32_t tid);
/* The calling thread's slot, in the handler; a thread that nobody told of is taken. 0: none. */
SIGNAL_SAFE uint32_t threads_slot_of_tick(struct threads *threads, int32_t process);
/* The calling thread's name from now on, whatever the kernel calls it. */
void threads_give_name(struct threads *threads, uint32_t slot, const char name[16]);

/* The user clock of the calling thread and its threads to come. Called in it, before the sampler's
 * thread is made. */
void threads_open_root(struct threads *threads, uint32_t period_us);

/* Answers handlers that know no stack; gives clocks to threads that have inherited none. */
void threads_poll(struct threads *threads);
void threads_set_period(struct threads *threads, uint32_t period_us, bool wall);
/* While a debugger is attached nothing traps. */
void threads_set_traced(struct threads *threads, bool traced);
/* Gives threads that are overloaded by their ticks a longer period, and back; and leaves the user
 * clock, or comes back to it, as switching.h says. */
void threads_relieve(struct threads *threads);
/* Another signal for the timers, or none of the user clock any more: all are made anew. */
void threads_rearm(struct threads *threads, int signal_number);
/* The sampler's thread goes, and another takes its place, with the root; clocks that single threads
 * have go, and are opened anew. */
void threads_part(struct threads *threads);
/* Closes all clocks and forgets all threads. */
void threads_stop(struct threads *threads);

#endif

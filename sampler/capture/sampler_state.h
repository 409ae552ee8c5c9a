/*
 * sampler_state.h - the sampler of this process: its parts, its lock, and what is told of it.
 *
 *   sampler.h (start and end), forked.h, announce.h, tend.h, handler.h, the wrapped calls -> here
 *
 * Threads    The notices: any. The parts' headers say who else may touch them.
 * Signals    What is marked is SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_SAMPLER_STATE_H
#define ISOSCOPE_SAMPLER_STATE_H

#include "modules/modules.h"
#include "tend.h"
#include "threads/threads.h"
#include "unwind/frame_providers.h"
#include "unwind/named_code.h"
#include "uplink.h"

#include "../feed/feed_writer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sampler_run {
    RUN_STOPPED,
    RUN_ON,
    RUN_MOVING, /* a tick says hello to another service, with another feed: no samples meanwhile */
    RUN_FORKED, /* in a child that has not ticked yet: clocks, and nothing else */
};

struct sampler {
    struct feed_writer writer;
    struct modules modules;
    struct threads threads;
    struct named_code named;
    struct frame_providers providers;
    struct tend tend;
    struct uplink_address address;
    _Atomic uint32_t running;     /* sampler_run */
    _Atomic uint32_t shared;      /* a signal that ticks keep to, for there is no other; 0: none */
    _Atomic uint32_t locked;      /* by who changes the lists that a forked child inherits */
    _Atomic uint32_t handlers;    /* that run now, and may enter the kernel */
    _Atomic uint32_t watch_loops; /* feed_watch: what the service wanted when last looked at */
    int32_t pid;
    uint32_t uid;       /* whose process it was when its feed began */
    int64_t forked_us;  /* RUN_FORKED */
    uint64_t before_ns; /* CPU time of the process that counts as nobody's */
};

extern struct sampler sampler;

SIGNAL_SAFE bool sampler_running(void);
/* It runs, moves to another feed, or is a forked child's that has not begun: ticks may come. */
SIGNAL_SAFE bool sampler_has_ticks(void);

/* Before a thread of the program's touches the feed, as a tick does: who stops the sampler waits for those that saw it run. False: it
 * does not; else sampler_leave follows soon. */
SIGNAL_SAFE bool sampler_enter(void);
SIGNAL_SAFE void sampler_leave(void);

/* One lock for the lists that a forked child inherits: ticks try, the program's threads wait for
 * it, but not for ever. All signals are blocked in the holder. False: it was not to be had. */
SIGNAL_SAFE bool sampler_try_lock(void);
bool sampler_lock(uint64_t *mask);
SIGNAL_SAFE void sampler_unlock(void);
/* With what sampler_lock gave. */
void sampler_unlock_to(const uint64_t *mask);

/* Somebody wants ticks; a forked child that has not begun anew has no feed. */
SIGNAL_SAFE_INLINE uint32_t sampler_period_us(void)
{
    return atomic_load_explicit(&sampler.threads.period_us, memory_order_relaxed);
}

SIGNAL_SAFE_INLINE bool sampler_ticks(void)
{
    return atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_ON &&
           sampler_period_us() != 0;
}

/* The tables' file and the service's bell in it, unless they are open. With the lock. */
SIGNAL_SAFE void sampler_open_tables(void);
/* There is news in the feed that the service should look at soon. */
SIGNAL_SAFE void sampler_ask_service(void);
/* Returns when the user clock stands still, as it was asked to in the feed; or the service does not
 * answer. */
void sampler_await_clock_stop(void);
/* Notes which loops the service wants marked. */
SIGNAL_SAFE void sampler_follow_watch(void);
/* The process's CPU time until now: what of it is in samples can be told. */
SIGNAL_SAFE void sampler_note_cpu_time(void);
/* The program is about to call dlclose, or has called it. */
void sampler_modules_go(void);

#endif

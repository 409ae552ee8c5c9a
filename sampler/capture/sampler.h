/*
 * sampler.h - the sampler of this process: its parts, and the one thread that tends them.
 *
 *   sampler_start -> hello, signal, thread -> (service, handlers, wrappers wake it) -> sampler_stop
 *
 * Threads    sampler_start, _stop, _fork_*: one at a time, by the program's threads. sampler_wake
 *            and the two notices: any thread. The parts' headers say who else may touch them.
 * Signals    sampler_wake and sampler_modules_unknown are SIGNAL_SAFE.
 * Errors     sampler_start: 0 or a negative isoscope_error. After that nothing fails: it is
 *            counted.
 */
#ifndef ISOSCOPE_SAMPLER_H
#define ISOSCOPE_SAMPLER_H

#include "modules/modules.h"
#include "system/raw_thread.h"
#include "threads/threads.h"
#include "unwind/named_code.h"
#include "uplink.h"

#include "../feed/segment.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* WITHOUT_THREAD: no more in this process; a forked child begins again. */
enum sampler_run { RUN_STOPPED, RUN_ON, RUN_WITHOUT_THREAD };

struct sampler {
    struct segment segment;
    struct modules modules;
    struct threads threads;
    struct named_code named;
    struct raw_thread thread;
    struct uplink_address address;
    _Atomic uint32_t running;         /* sampler_run */
    _Atomic uint32_t modules_unknown; /* a handler met code it does not know */
    _Atomic uint32_t modules_told;    /* dlopen or dlclose was called */
    _Atomic uint32_t yielding;        /* a signal that the program is about to take; 0: none */
    _Atomic uint32_t shared;          /* one that ticks keep to, for there is no other; 0: none */
    _Atomic uint32_t resting;         /* lock: held by the thread while it changes the lists that a
                                       * forked child inherits */
    _Atomic uint32_t handlers;        /* that run now, and may enter the kernel */
    int32_t pid;
    int uplink, memfd; /* in the thread's own descriptor table; -1: none */
};

extern struct sampler sampler;

struct sampler_start_options {
    struct uplink_address address;
    uint32_t period_us;
    bool enabled;
    enum feed_timer_wish timer;
};

/* stack: the calling thread's; *slot gets its slot. A call while it runs changes nothing. */
int sampler_start(const struct sampler_start_options *options, const struct stack_range *stack,
                  uint32_t *slot);
void sampler_stop(void);
bool sampler_running(void);

/* A lock between the sampler's thread, while it changes the lists that a forked child inherits, and
 * a forking one. False: it was not to be had in time (forever: never). */
bool sampler_rest_lock(bool forever);
void sampler_rest_unlock(void);

/* After standstill.h took the thread away: another one, with the descriptors of the calling
 * thread's table. False: the kernel refused it. */
bool sampler_restart_thread(void);

/* Around fork, in this order; the child gets a feed and a thread of its own. old_slot: the
 * forking thread's; returns its slot in the child. */
void sampler_fork_prepare(void);
void sampler_fork_parent(void);
uint32_t sampler_fork_child(uint32_t old_slot);

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

SIGNAL_SAFE void sampler_wake(void);
/* A handler met a pc in no module. */
SIGNAL_SAFE void sampler_modules_unknown(void);
/* The program is about to take this signal: if ticks use it they move to another, before this
 * returns. True: there is no other. The program's handler is called by ours (program_action.h). */
bool sampler_yield_signal(int number);
/* The process's CPU time until now: what of it is in samples can be told. */
void sampler_note_cpu_time(void);
/* The signals that ticks come by and the program does not handle, as a kernel's set. */
uint64_t sampler_tick_signals(void);
/* The program called dlopen, or is about to call dlclose, or has called it. */
void sampler_modules_told(bool unload);

#endif

/*
 * sampler.h - the sampler's start and its end.
 *
 *   sampler_start -> signals, clocks, hello
 *     -> (handler.h, tend.h, the wrapped calls) -> sampler_stop
 *
 * Threads    One at a time, by the program's threads.
 * Errors     sampler_start: 0 or a negative isoscope_error. After that nothing fails: it is
 *            counted.
 */
#ifndef ISOSCOPE_SAMPLER_H
#define ISOSCOPE_SAMPLER_H

#include "sampler_state.h"

struct sampler_start_options {
    struct uplink_address address;
    uint32_t uid; /* whose process it is */
    uint32_t period_us;
    bool enabled;
    enum feed_timer_wish timer;
    enum feed_watch watch;
    bool late; /* the program has run for a while: what it used before is nobody's */
};

/* stack: the calling thread's; *slot gets its slot. A call while it runs changes nothing. */
int sampler_start(const struct sampler_start_options *options, const struct stack_range *stack,
                  uint32_t *slot);
void sampler_stop(void);
/* The program locks itself in (seccomp): no tick may make a system call that a filter could punish.
 * When this returns, none does, and sampling of the process has ended. */
void sampler_stop_for_good(void);
/* Around fork, in this order; the child gets a feed of its own, some time later. old_slot: the
 * forking thread's; returns its slot in the child. */
void sampler_fork_prepare(void);
void sampler_fork_parent(void);
uint32_t sampler_fork_child(uint32_t old_slot);

#endif

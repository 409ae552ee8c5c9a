/*
 * stack_place.h - where a walk is, and the frames that it puts.
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_STACK_PLACE_H
#define ISOSCOPE_STACK_PLACE_H

#include "stack_registers.h"
#include "thread_stacks.h"

/* A frame whose caller is looked for. exact: the thread was at that very instruction; else it is to return there. */
struct stack_place {
    struct stack_registers registers;
    bool exact;
};

enum stack_stop {
    STACK_ROOT, /* the thread's first frame */
    STACK_BARE, /* the place's code has no unwind data that this walker knows */
    STACK_CUT,  /* it has, but memory or a register is missing */
    STACK_DEEP, /* there is no room for more frames */
};

/* False: there is no room for more. */
bool stack_put(const struct thread_stacks *stacks, struct stack_thread *thread, uint64_t pc,
               bool exact, enum stack_found found);

#endif

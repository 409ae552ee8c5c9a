/*
 * unwind.h - registers to pcs, in the tick handler.
 *
 *   handler.h -> unwind (code_map.h says how) -> frames into the thread's ring
 *
 * Reads the thread's own stack between its stack pointer and its end, and the sampler's tables:
 * nothing else, so nothing can fault. What the tables cannot say ends the stack, with a reason.
 *
 * Signals    SIGNAL_SAFE; bounded by frames_max.
 */
#ifndef ISOSCOPE_UNWIND_H
#define ISOSCOPE_UNWIND_H

#include "../feed/layout.h"
#include "code_map.h"

#include <stdint.h>
#include <ucontext.h>

/* A thread's stack. A frame at root or above has no caller, whatever its rules say. */
struct stack_range {
    uint64_t low, high; /* readable, once the stack pointer lies between them */
    uint64_t root;      /* 0: unknown */
};

/* Fills frames, leaf first, as layout.h describes them; frames_max >= 1. Returns how many. */
SIGNAL_SAFE uint32_t unwind(const struct code_map *map, const struct stack_range *stack,
                            const ucontext_t *context, uint64_t *frames, uint32_t frames_max,
                            enum feed_end *end);

#endif

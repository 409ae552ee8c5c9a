/*
 * stack_guess.h - a caller where the code has no unwind data: where its frame pointer leads, or else the next return
 * address on the stack.
 *
 * A return address is one with a call before it. What is found so may be left over from an earlier call: frames say how
 * they were found.
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_STACK_GUESS_H
#define ISOSCOPE_STACK_GUESS_H

#include "stack_memory.h"
#include "stack_place.h"

/* place: becomes its caller. False: none was found. */
bool stack_guess(struct stack_memory *memory, struct stack_place *place, enum stack_found *found);

#endif

/*
 * v8_machine.h - machine code that V8 made: which piece a pc is in, and what stands for it.
 *
 *   v8.c (pc of no module) -> v8_machine_find -> baseline: v8_machine_offset; optimized: v8_optimized.h
 *
 * A function's own word says only what it would run when called now: what runs may be older, or was entered in
 * the middle of a loop. So the piece is looked for from the pc backwards: its head is at a multiple of 64.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     False: it is no code that V8 made of a function.
 */
#ifndef ISOSCOPE_V8_MACHINE_H
#define ISOSCOPE_V8_MACHINE_H

#include "v8_objects.h"

struct v8_machine {
    uint64_t code;  /* tagged */
    uint64_t start; /* its first instruction */
    uint32_t kind;
};

/* near: the map of any object of V8's own types: all these are on one page. */
SIGNAL_SAFE bool v8_machine_find(const struct v8_walk *walk, uint64_t pc, uint64_t near,
                                 struct v8_machine *out);

/* In baseline code: bytes of bytecode before the one that is at pc; FEED_NO_POSITION: not known. */
SIGNAL_SAFE uint32_t v8_machine_offset(const struct v8_walk *walk, const struct v8_machine *machine,
                                       uint64_t bytecode, uint64_t pc);

#endif

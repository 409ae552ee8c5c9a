/*
 * inject_call.h - functions called by a held thread of another process, in memory of their own.
 *
 *   inject_call_begin (memory for it) -> inject_call_function ... -> inject_call_end (as if nothing had been)
 *
 * At any time, the thread finds its way back alone: by a frame that ends each call (inject_machine.h).
 *
 * Threads    The tracer's one.
 * Errors     false, with a refusal; then nothing but inject_call_end may follow.
 */
#ifndef ISOSCOPE_INJECT_CALL_H
#define ISOSCOPE_INJECT_CALL_H

#include "inject_place.h"

enum { INJECT_TEXT_BYTES = 1024 };

struct inject_call {
    struct inject_held *held;
    int64_t until_ns;
    uint64_t code, data; /* mappings of ours there; 0: not yet */
    uint64_t own_frame;  /* on the thread's own stack */
    uint64_t stops_by;   /* the frame that the thread is about to go back by; 0: none */
    bool left;           /* it goes on by itself: it may not be held any longer */
};

bool inject_call_begin(struct inject_call *call, struct inject_held *held, int64_t until_ns,
                       struct refusal *why);
/* Bytes for the program to read; their address there. index: 0 or 1, INJECT_TEXT_BYTES each. */
bool inject_call_put(struct inject_call *call, int index, const void *bytes, size_t count,
                     uint64_t *address, struct refusal *why);
bool inject_call_function(struct inject_call *call, uint64_t function, uint64_t first,
                          uint64_t second, uint64_t *result, struct refusal *why);
/* Takes the memory away, and lets the thread go on where it was. */
void inject_call_end(struct inject_call *call);

#endif

/*
 * named_code.h - code the program told us of: a JIT's ranges, with their names.
 *
 *   isoscope.h (cooperate.c adds and removes) -> named_code -> unwind.h, in the tick handler
 *
 * The ranges are a skip list: one change costs the same with ten ranges as with a hundred thousand,
 * and handlers walk it while it changes. What is removed is freed when no handler can still hold
 * it; handlers are counted by the code maps they enter anyway (code_map.h).
 *
 * Ownership  Ranges are the list's. Names are copied.
 * Threads    named_code_find: any handler, inside code_map_enter. The rest: one at a time, by the
 *            program's threads, which allocate.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND.
 */
#ifndef ISOSCOPE_NAMED_CODE_H
#define ISOSCOPE_NAMED_CODE_H

#include "code_map.h"

#include "../../feed/feed_writer.h"
#include "../../feed/signal_safe.h"
#include "../../include/isoscope/isoscope.h"

enum { NAMED_CODE_HEIGHT = 16 };

struct named_range {
    struct retired retired;
    uint64_t start, end;
    const char *name;
    uint32_t height;
    _Atomic(struct named_range *) next[]; /* by level; the next range of at least that height */
};

struct named_code {
    struct feed_writer *writer; /* where their names go */
    _Atomic(struct named_range *) first[NAMED_CODE_HEIGHT];
    struct retired *retired;
    uint32_t random;
};

/* Ranges that it overlaps are gone: their code has been overwritten. */
int named_code_add(struct named_code *code, struct code_maps *maps, uint64_t start, uint64_t bytes,
                   const char *name);
int named_code_remove(struct named_code *code, struct code_maps *maps, uint64_t start);
/* Only when no handler runs any more. */
void named_code_clear(struct named_code *code);

SIGNAL_SAFE const struct named_range *named_code_find(const struct named_code *code, uint64_t pc);

#endif

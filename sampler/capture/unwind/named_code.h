/*
 * named_code.h - code the program told us of: a JIT's ranges, and where its interpreter runs.
 *
 *   isoscope.h (cooperate.c adds and removes) -> named_code -> unwind.h, in the tick handler
 *
 * The ranges are a skip list: one change costs the same with ten ranges as with a hundred thousand,
 * and handlers walk it while it changes. What is removed is freed when no handler can still hold
 * it; handlers are counted by the code maps they enter anyway (code_map.h).
 *
 * Ownership  Ranges and providers are the list's. Names are copied.
 * Threads    named_code_find, _provider: any handler, inside code_map_enter. The rest: one at a
 *            time, by the program's threads, which allocate.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND.
 */
#ifndef ISOSCOPE_NAMED_CODE_H
#define ISOSCOPE_NAMED_CODE_H

#include "code_map.h"

#include "../../feed/segment.h"
#include "../../feed/signal_safe.h"
#include "../../include/isoscope/isoscope.h"

enum { NAMED_CODE_HEIGHT = 16 };

/* First in what is removed: it waits here for the handlers. */
struct retired_code {
    struct retired_code *next;
    uint8_t drained; /* as code_map's */
};

struct named_range {
    struct retired_code retired;
    uint64_t start, end;
    const char *name;
    uint32_t height;
    _Atomic(struct named_range *) next[]; /* by level; the next range of at least that height */
};

struct frame_provider {
    struct retired_code retired;
    uint64_t start, end; /* the interpreter's own code */
    isoscope_frame_provider call;
    void *context;
};

struct named_code {
    struct segment *segment; /* where their names go */
    _Atomic(struct named_range *) first[NAMED_CODE_HEIGHT];
    _Atomic(struct frame_provider *) provider; /* NULL: none */
    struct retired_code *retired;
    uint32_t random;
};

/* Ranges that it overlaps are gone: their code has been overwritten. */
int named_code_add(struct named_code *code, struct code_maps *maps, uint64_t start, uint64_t bytes,
                   const char *name);
int named_code_remove(struct named_code *code, struct code_maps *maps, uint64_t start);
/* call NULL: none any more. */
int named_code_set_provider(struct named_code *code, struct code_maps *maps, uint64_t start,
                            uint64_t bytes, isoscope_frame_provider call, void *context);
/* Only when no handler runs any more. */
void named_code_clear(struct named_code *code);

SIGNAL_SAFE const struct named_range *named_code_find(const struct named_code *code, uint64_t pc);

/* The provider, when pc lies in its interpreter. */
SIGNAL_SAFE_INLINE const struct frame_provider *named_code_provider(const struct named_code *code,
                                                                    uint64_t pc)
{
    const struct frame_provider *provider =
        atomic_load_explicit(&code->provider, memory_order_seq_cst);

    return provider && pc >= provider->start && pc < provider->end ? provider : NULL;
}

#endif

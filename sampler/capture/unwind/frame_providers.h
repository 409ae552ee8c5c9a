/*
 * frame_providers.h - who says what the interpreters in this program run, and where their code is.
 *
 *   isoscope.h (cooperate.c adds and removes) -> frame_providers -> unwind.h, in the tick handler
 *
 * A list never changes: a change makes another and publishes it, as code_map.h. A walk reads one
 * list from its first frame to its last, so a provider's number is the same all the way.
 *
 * Ownership  The lists are the table's; contexts stay the program's.
 * Threads    frame_providers_list, _find: any handler, inside code_map_enter. The rest: one at a
 *            time, by the program's threads, which allocate.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_NOT_FOUND, -ISOSCOPE_OVERLAP, -ISOSCOPE_LIMIT. Then
 *            nothing has changed.
 */
#ifndef ISOSCOPE_FRAME_PROVIDERS_H
#define ISOSCOPE_FRAME_PROVIDERS_H

#include "code_map.h"

#include "../../feed/signal_safe.h"
#include "../../include/isoscope/isoscope.h"

/* Of one function and context each, with any number of ranges: a walk keeps a cursor for each. */
enum { FRAME_PROVIDERS_MAX = 8 };

struct provider_range {
    uint64_t start, end;
    isoscope_frame_provider call; /* names; NULL: codes */
    isoscope_code_provider code;
    isoscope_code_describe describe;
    void *context;
    uint32_t number; /* of the provider, below FRAME_PROVIDERS_MAX */
};

struct provider_list {
    struct retired retired;
    uint32_t count;                 /* 1 or more */
    struct provider_range ranges[]; /* sorted, disjoint */
};

/* All zeros at first. */
struct frame_providers {
    _Atomic(struct provider_list *) list; /* NULL: there are none */
    struct retired *retired;
};

/* Ranges may touch, but not overlap. */
int frame_providers_add(struct frame_providers *providers, struct code_maps *maps,
                        const struct provider_range *range);
/* start: as it was added. */
int frame_providers_remove(struct frame_providers *providers, struct code_maps *maps,
                           uint64_t start);
/* Only when no handler runs any more. */
void frame_providers_free(struct frame_providers *providers);

/* seq_cst, as in code_map_enter: counted in before it is loaded. */
SIGNAL_SAFE_INLINE const struct provider_list *
frame_providers_list(const struct frame_providers *providers)
{
    return atomic_load_explicit(&providers->list, memory_order_seq_cst);
}

/* The range that holds pc; NULL: none. */
SIGNAL_SAFE const struct provider_range *frame_providers_find(const struct provider_list *list,
                                                              uint64_t pc);

#endif

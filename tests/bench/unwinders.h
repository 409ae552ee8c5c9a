/*
 * unwinders.h - one interrupted stack, walked by isoscope's tables and by libunwind.
 *
 *   bench_preload.c -> walk_by_tables (sampler/capture) and walk_by_libunwind (dlopen) -> pcs
 *
 * libunwind is loaded with RTLD_LOCAL: linked, it would take backtrace() and the C++ unwinder away
 * from the program it is to look at.
 *
 * Threads    unwinders_open first, once; unwinders_learn by one thread at a time; walks in any.
 * Signals    For the tick handler of a bench. libunwind takes locks: never do this in a product.
 * Errors     unwinders_open: false, and says why on stderr.
 */
#ifndef ISOSCOPE_TESTS_UNWINDERS_H
#define ISOSCOPE_TESTS_UNWINDERS_H

#include "sampler/capture/unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>

enum { WALK_DEPTH_MAX = 1000 };

/* Runtime addresses, leaf first: the leaf's pc, then return addresses. */
struct walk {
    uint32_t depth;
    bool root;         /* the thread's first frame was reached */
    enum feed_end end; /* of a walk by tables */
    bool unknown_code; /* likewise: something was mapped since unwinders_learn */
    uint64_t pcs[WALK_DEPTH_MAX];
};

bool unwinders_open(bool libunwind);
/* Looks again what is mapped; something else may have been loaded since. */
void unwinders_learn(void);

/* stack and outer_frames: the thread's. */
void walk_by_tables(const ucontext_t *context, const struct stack_range *stack,
                    struct outer_frames *outer_frames, struct walk *out);
/* After walk_by_tables alone, which leaves frames as the feed has them: makes pcs of them. */
void walk_resolve(struct walk *walk);
void walk_by_libunwind(const ucontext_t *context, struct walk *out);

bool walks_equal(const struct walk *tables, const struct walk *libunwind);

/* "libc.so.6+0x1234", for people. */
void unwinders_name(uint64_t pc, char *out, size_t bytes);

#endif

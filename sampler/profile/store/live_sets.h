/*
 * live_sets.h - sampled allocations that have not been freed, of each process.
 *
 *   drain (one is sampled; the feed's table is looked at) -> live_sets -> store of SAMPLES_OF_LIVE
 *
 * A store only grows at its end, and these come and go. So they are kept here, each with its stack, and
 * put into their store anew when somebody asks for them and they are others than before.
 *
 * What they take stays below a part of what the program has: then those go that a larger mean would not
 * have met, as their marks say (FEED_ALLOCATION_LEVEL), and those that stay weigh as much more.
 *
 * Ownership  A process has its set; the sets hold what a set needs. A process that ends leaves it as
 *            it is: what was never freed.
 * Threads    Any; one lock.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_LIVE_SETS_H
#define ISOSCOPE_LIVE_SETS_H

#include "store.h"

#include <stdbool.h>

struct live_sets;
struct live_set;

/* store: where they are shown. */
int live_sets_new(struct live_sets **out, struct store *store);
void live_sets_free(struct live_sets *sets); /* NULL is fine; after all sets */

/* NULL: out of memory. */
struct live_set *live_set_new(struct live_sets *sets, struct owner *owner);
void live_set_free(struct live_set *set); /* NULL is fine */

enum {
    /* Of the bytes that live, one in so many for what is known of them, in the program and here: less
     * than 1/200, for what lives is an estimate. */
    LIVE_HEAP_PART = 220,
    /* Of a small heap more: the filter, the table's first places, and some hundred samples. */
    LIVE_BYTES_MIN = 256 * 1024,
};

/* What the feed's table says. */
struct live_table {
    bool (*lives)(const void *context, uint64_t mark);
    uint32_t (*level)(const void *context); /* those of a lower one do not live */
    const void *context;
};

/* mark: as the feed's table has it. amount: bytes asked for, of mean of which one was sampled; mean 0: it
 * was for sure. What the sample says of its weight is not looked at. Its thread is one of the set's owner.
 */
int live_set_add(struct live_set *set, uint64_t mark, uint64_t amount, uint64_t mean,
                 const struct store_sample *sample);
/* Takes out those that do not live any more. */
void live_set_sweep(struct live_set *set, const struct live_table *table);
/* Keeps so few that the bound holds. table_bytes: that the program has of them. Returns the level that
 * the table is to have. */
uint32_t live_set_bound(struct live_set *set, size_t table_bytes);
/* What they take here, shown or not. */
size_t live_set_bytes(struct live_set *set);

/* Somebody has cleared the store. */
void live_sets_changed(struct live_sets *sets);
/* Those that live now are in the store, and no others. */
int live_sets_show(struct live_sets *sets);

#endif

/*
 * live_sets.h - sampled allocations that have not been freed, of each process.
 *
 *   drain (one is sampled; the feed's table is looked at) -> live_sets -> store of SAMPLES_OF_LIVE
 *
 * A store only grows at its end, and these come and go. So they are kept here, each with its stack, and
 * put into their store anew when somebody asks for them and they are others than before.
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

/* mark: as the feed's table has it. The sample's thread is one of the set's owner. */
int live_set_add(struct live_set *set, uint64_t mark, const struct store_sample *sample);
/* Takes out those that do not live any more. */
void live_set_sweep(struct live_set *set, bool (*lives)(const void *context, uint64_t mark),
                    const void *context);

/* Somebody has cleared the store. */
void live_sets_changed(struct live_sets *sets);
/* Those that live now are in the store, and no others. */
int live_sets_show(struct live_sets *sets);

#endif

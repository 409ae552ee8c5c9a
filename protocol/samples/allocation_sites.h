/*
 * allocation_sites.h - functions that allocate, in the place of classes: what each has got, and what of
 * it lives.
 *
 *   snapshots of SAMPLES_OF_ALLOCATIONS and SAMPLES_OF_LIVE -> sums by function -> ClassHeapStats
 *
 * A sample counts for the innermost function of its stack that is no allocator's own (operator new and
 * its like). Its class has that function's id behind "classes/".
 *
 * Ownership  The sums take over their snapshot; allocation_sums_free.
 * Threads    The service thread.
 * Errors     0, a negative isoscope_error, or 1: call again.
 */
#ifndef ISOSCOPE_ALLOCATION_SITES_H
#define ISOSCOPE_ALLOCATION_SITES_H

#include "../../sampler/profile/snapshot.h"

#include <jansson.h>
#include <stdbool.h>

struct allocation_sums {
    struct snapshot *snapshot;
    uint32_t cursor;
    struct allocation_sum {
        double bytes, objects;
    } * of; /* by function */
};

int allocation_sums_step(struct allocation_sums *sums, int64_t *work);
void allocation_sums_free(struct allocation_sums *sums);

/* Of sums that are done: a list of ClassHeapStats. heaps: each has _new and _old, too. NULL: out of
 * memory. */
json_t *allocation_sites_json(const struct allocation_sums *all, const struct allocation_sums *live,
                              bool heaps);
/* @Class of a function. */
json_t *allocation_site_class(const struct snapshot_function *function,
                              const struct snapshot_library *library);

/* What the id of such a class begins with; a function's follows. */
#define ALLOCATION_SITE_CLASSES "classes/"

#endif

/*
 * timeline_order.h - a timeline's events by time: slices as begins and ends, properly nested.
 *
 *   timeline (in the order of ends) -> sorted runs of places -> merged -> one side at a time
 *
 * What the window has: of a slice each side that lies in it, so that windows one behind the other
 * tell each side once. A whole one (complete, where they are kept whole, and one without length)
 * where any of it does. Both ends of the window belong to it.
 *
 * Costs 24 bytes for each side.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  What is given lives until the next call.
 * Errors     0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_TIMELINE_ORDER_H
#define ISOSCOPE_TIMELINE_ORDER_H

#include "../../sampler/profile/timeline.h"

enum timeline_side { TIMELINE_SIDE_END, TIMELINE_SIDE_BEGIN, TIMELINE_SIDE_WHOLE };

struct timeline_span {
    bool bounded; /* false: all */
    int64_t from_us, to_us;
};

struct timeline_order;

/* Of all processes. splits: complete slices have begins and ends, too. 0 or what timeline_take
 * says. */
int timeline_order_take(struct timeline_order **out, struct profile *profile,
                        const struct timeline_span *span, bool splits);
void timeline_order_free(struct timeline_order *order); /* NULL is fine */

/* To be called until it returns 0, in as many turns as it needs (work.h): 1. */
int timeline_order_gather(struct timeline_order *order, int64_t *work);
/* False at the end. */
bool timeline_order_next(struct timeline_order *order, struct timeline_event *out,
                         enum timeline_side *side);

#endif

/*
 * perfetto_lanes.h - where slices of a track go that cross others: Perfetto nests what is on one.
 *
 * Told in the order of their sides (timeline_order.h), a slice stays on its track, lane 0, where it
 * ends within all that are open there, or goes to the first lane where it does.
 *
 * Units      *_ns: nanoseconds.
 * Ownership  The caller owns a struct perfetto_lanes; zeroed is empty.
 * Errors     Out of memory sets failed.
 */
#ifndef ISOSCOPE_PERFETTO_LANES_H
#define ISOSCOPE_PERFETTO_LANES_H

#include "../timeline/numbering.h"

enum { PERFETTO_LANES_MAX = 16 }; /* the last one takes what finds no other */

struct perfetto_open {
    int64_t start_ns, end_ns;
};

struct perfetto_lane {
    struct perfetto_open *open; /* each within the one before */
    uint32_t count, capacity;
};

struct perfetto_lanes {
    struct numbering tracks; /* by uuid */
    struct perfetto_lane (*lanes)[PERFETTO_LANES_MAX];
    uint32_t capacity;
    bool failed;
};

/* The lane of a slice that begins, and of one that ends: 0 where its begin was not told. */
uint32_t perfetto_lane_begin(struct perfetto_lanes *lanes, uint64_t track, int64_t start_ns,
                             int64_t end_ns);
uint32_t perfetto_lane_end(struct perfetto_lanes *lanes, uint64_t track, int64_t start_ns,
                           int64_t end_ns);
void perfetto_lanes_free(struct perfetto_lanes *lanes);

#endif

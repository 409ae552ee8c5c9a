/*
 * frame_rate.h - a frame's figures: its parts, what was dropped behind it, how many came in a second.
 *
 * Frames of one name of one process are a series. Feed them in the order of their ends.
 *
 * Units      Parts in microseconds, as DevTools' FlutterFrame has them.
 * Ownership  The caller owns a struct frame_rates; zeroed is empty.
 * Errors     Out of memory sets failed.
 */
#ifndef ISOSCOPE_FRAME_RATE_H
#define ISOSCOPE_FRAME_RATE_H

#include "numbering.h"
#include "../../sampler/profile/timeline.h"

struct frame_parts {
    uint64_t elapsed, build, raster, vsync_overhead;
};
struct frame_parts frame_parts_of(const struct timeline_event *frame);

enum frame_level { FRAME_BEST, FRAME_NORMAL, FRAME_MIDDLE, FRAME_HIGH, FRAME_FROZEN, FRAME_LEVELS };
extern const char *const frame_level_words[FRAME_LEVELS];
enum frame_level frame_level_of(uint64_t dropped);

struct frame_series {
    int64_t *ends_ns; /* of the last second: [first, count) */
    uint32_t first, count, capacity;
};

struct frame_rates {
    struct numbering names;
    struct frame_series *series;
    uint32_t capacity;
    bool failed;
};

/* How many of its series ended within the second before its end, itself too. */
uint32_t frame_rate_add(struct frame_rates *rates, const struct timeline_event *frame);
void frame_rates_free(struct frame_rates *rates);

#endif

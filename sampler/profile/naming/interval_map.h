/*
 * interval_map.h - ranges of addresses laid over one another: at each address the latest one shows.
 *
 *     interval_map_build(&map, ranges, count); interval_map_find(&map, pc, &range)
 *
 * Ownership  The user's struct: all zeros is empty, interval_map_free ends it.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; then the map stays as it was.
 */
#ifndef ISOSCOPE_INTERVAL_MAP_H
#define ISOSCOPE_INTERVAL_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct interval_range {
    uint64_t start, end;
};

struct interval {
    uint64_t start; /* it goes up to the next interval's start */
    uint32_t range; /* INTERVAL_NONE */
};

enum { INTERVAL_NONE = UINT32_MAX };

struct interval_map {
    struct interval *list;
    uint32_t count;
};

/* ranges: the latest last, each with an end beyond its start; 2^30 at most. stride: bytes from one
 * to the next. */
int interval_map_build(struct interval_map *map, const void *ranges, uint32_t count,
                       uint32_t stride);
void interval_map_free(struct interval_map *map);
/* False: no range covers the address. */
bool interval_map_find(const struct interval_map *map, uint64_t address, uint32_t *range);

#endif

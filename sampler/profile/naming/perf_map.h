/*
 * perf_map.h - what a JIT without a word to isoscope says of its code: the lines it appends to
 * /tmp/perf-PID.map, "START SIZE NAME" in hex.
 *
 *   process (a pc in no module) -> perf_map -> its name when the sample was drained
 *
 * Read when a pc asks for it, as far as it has grown, and not too often. A later line wins: its
 * code lies where the earlier one's was. A file that was replaced or cut off is read anew.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  The caller's, by perf_map_free. What it holds is bounded: 64 bytes for each of
 *            PERF_MAP_LINES_MAX lines that still show; names stay in the file until they are asked
 *            for.
 * Threads    One at a time: whoever runs the round.
 * Errors     perf_map_new: 0 or -ISOSCOPE_NO_MEMORY. Lines that make no sense are passed over.
 */
#ifndef ISOSCOPE_PERF_MAP_H
#define ISOSCOPE_PERF_MAP_H

#include "../store/names.h"

#include <stdint.h>

struct perf_map;

enum { PERF_MAP_LINES_MAX = 256 * 1024 };

int perf_map_new(struct perf_map **out, int32_t pid); /* pid: as this process sees it */
void perf_map_free(struct perf_map *map);             /* NULL is fine */

/* The number of the name; 0: not known (yet). */
uint32_t perf_map_name(struct perf_map *map, uint64_t pc, int64_t now_us, struct names *names);

#endif

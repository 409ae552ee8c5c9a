/*
 * jit_areas.h - where a just-in-time compiler keeps its code that told us nothing.
 *
 *   /tmp/perf-PID.map is there, and /proc/self/maps -> jit_areas -> code_map.h, by frame pointer
 *
 * Who writes a perf map is asked to keep frame pointers too: perf has no other way through such
 * code. So executable memory of no module is walked by them, and only then. Such memory is
 * anonymous, or a piece of a file put to another place, as V8 does with its built-in code; where
 * that stands in a module, it has no unwind data, and is walked in the same way.
 *
 * Threads    The sampler's thread.
 * Errors     None. Code beyond JIT_AREAS_MAX areas stays unknown: stacks end there and say so.
 * Source     the kernel's tools/perf/Documentation/jit-interface.txt
 */
#ifndef ISOSCOPE_JIT_AREAS_H
#define ISOSCOPE_JIT_AREAS_H

#include "../system/maps.h"

#include <stdbool.h>
#include <stdint.h>

enum { JIT_AREAS_MAX = 512 };

struct jit_area {
    uint64_t start, end;
};

struct jit_areas {
    bool wanted; /* the program writes a perf map */
    uint32_t count;
    struct jit_area *areas; /* ascending, disjoint; JIT_AREAS_MAX of them, made for the first one */
};

/* Begins anew. pid: the process's own, as it sees itself; the map is looked for in its own root.
 * start_us: when it began, by CLOCK_MONOTONIC. */
void jit_areas_begin(struct jit_areas *areas, int32_t pid, int64_t start_us);
/* Lines of no module, in the order of maps. */
void jit_areas_take(struct jit_areas *areas, const struct maps_line *line);
void jit_areas_free(struct jit_areas *areas);
bool jit_areas_equal(const struct jit_areas *left, const struct jit_areas *right);

#endif

/*
 * jit_areas.h - where a just-in-time compiler keeps its code that told us nothing.
 *
 *   /tmp/perf-PID.map or a known runtime, and /proc/self/maps -> jit_areas -> code_map.h, by frame
 *   pointer
 *
 * Who writes a perf map is asked to keep frame pointers too: perf has no other way through such
 * code; and some always do (runtimes.h). So executable memory of no module is walked by them, and
 * only then. Such memory is
 * anonymous, or a piece of a file put to another place, as V8 does with its built-in code; where
 * that stands in a module, it has no unwind data, and is walked in the same way. Such a piece has the names
 * of its file.
 *
 * Threads    One at a time.
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
    /* Of a piece of a file; inode 0: of none. */
    uint64_t inode, offset;
    uint32_t dev_major, dev_minor;
};

struct jit_areas {
    bool wanted; /* the program writes a perf map, or keeps frame pointers anyway */
    uint32_t count;
    struct jit_area *areas; /* ascending, disjoint; JIT_AREAS_MAX of them, made for the first one */
};

/* Whose, when it is not this process itself: its pid here; else 0. And for both the pid as it sees
 * itself, and when it began, by CLOCK_MONOTONIC. */
struct jit_process {
    int32_t other, pid;
    int64_t start_us;
};

/* Begins anew. The map is looked for in the process's own root. */
SIGNAL_SAFE void jit_areas_begin(struct jit_areas *areas, const struct jit_process *process);
/* Lines of no module, in the order of maps. */
SIGNAL_SAFE void jit_areas_take(struct jit_areas *areas, const struct maps_line *line);
void jit_areas_free(struct jit_areas *areas);
SIGNAL_SAFE bool jit_areas_equal(const struct jit_areas *left, const struct jit_areas *right);

#endif

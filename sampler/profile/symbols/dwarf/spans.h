/*
 * spans.h - many overlapping spans of addresses made into disjoint ones.
 *
 *     spans_add ... spans_add, spans_cut -> cuts
 *
 * Where spans overlap the shortest wins, and of two that are equally long the later added one: in
 * DWARF an inner function comes after the outer one and is no longer.
 *
 * Ownership  The users' structs: all zeros is empty, spans_free and cuts_free end them.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SPANS_H
#define ISOSCOPE_SPANS_H

#include <stdint.h>

enum { CUT_NONE = UINT32_MAX };

struct span {
    uint64_t start, end;
    uint32_t id;
    uint32_t turn; /* when it was added */
};

struct spans {
    struct span *spans;
    uint32_t count, capacity;
};

/* From start up to the next one's start it is id; the last one is CUT_NONE. */
struct cut {
    uint64_t start;
    uint32_t id; /* CUT_NONE: a gap */
};

struct cuts {
    struct cut *cuts;
    uint32_t count;
};

/* An empty span adds nothing. */
int spans_add(struct spans *spans, uint64_t start, uint64_t end, uint32_t id);
void spans_free(struct spans *spans);

/* out: empty before. */
int spans_cut(const struct spans *spans, struct cuts *out);
void cuts_free(struct cuts *cuts);

#endif

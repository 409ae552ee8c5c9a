/*
 * code_map.h - where code lies in this process, and how to unwind it: what the tick handler reads.
 *
 *   modules.h builds maps -> one atomic pointer -> unwind.h, in the handler
 *
 * A map never changes. A newer one replaces it, and the old one is freed when no handler can
 * still hold it: handlers count themselves in and out. What else handlers read inside of
 * code_map_enter is freed by the same count (retire, take_drained).
 *
 * Threads    code_map_publish, code_map_reclaim: one at a time; retire, take_drained: for one list.
 *            The rest: any thread, any handler.
 * Signals    code_map_enter, _leave and _find are SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_CODE_MAP_H
#define ISOSCOPE_CODE_MAP_H

#include "unwind_table.h"

#include "../../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_range {
    uint64_t start, end;              /* runtime addresses */
    uint64_t bias;                    /* runtime address - vaddr */
    uint32_t number;                  /* feed module */
    bool permanent;                   /* the program was started with it: nothing unloads it */
    bool table_to_come;               /* until then: live_cfi.h */
    const struct unwind_table *table; /* NULL: no unwind data */
    bool by_frame_pointer;            /* a JIT's code: jit_areas.h. number: whose piece it is */
};

/* First in what is replaced: it waits until no handler can hold it. */
struct retired {
    struct retired *next;
    uint8_t drained; /* bit n: reader group n was seen empty since it was retired */
};

struct code_map {
    struct retired retired;
    uint32_t unloads; /* code_maps.unloads when the scan behind this map began */
    uint32_t count;
    bool by_frame_pointer; /* code of modules, where it has no unwind data, is a JIT's as well */
    bool trampolines;      /* a JIT's code may have a frame of fixed size instead */
    bool changes_stacks;   /* a JIT's code calls C on another stack than its own */
    size_t bytes;          /* of this allocation */
    _Atomic uint32_t *unloads_now;
    struct code_range ranges[]; /* sorted, disjoint */
};

struct code_maps {
    _Atomic(struct code_map *) current; /* NULL until the first is built */
    _Atomic uint32_t epoch;
    _Atomic uint32_t readers[2];
    _Atomic uint32_t unloads; /* +1 before and after each dlclose; modules.h */
    struct retired *retired;
};

/* Counts the handler in and lends the map; *group goes to code_map_leave. NULL: none is built yet.
 */
SIGNAL_SAFE const struct code_map *code_map_enter(struct code_maps *maps, uint32_t *group);
SIGNAL_SAFE void code_map_leave(struct code_maps *maps, uint32_t group);

/* Which reader groups are empty now, by bit. Handlers to come go to the other group, so that each
 * empties even on a busy machine. What was replaced before both were seen empty is held by none. */
SIGNAL_SAFE uint8_t code_maps_empty_groups(struct code_maps *maps);
/* Replaced, and no longer to be found by a handler that enters now. */
SIGNAL_SAFE void retire(struct retired **list, struct retired *item);
/* Takes out of the list what no handler holds: a list too, of the caller's. */
SIGNAL_SAFE struct retired *take_drained(struct code_maps *maps, struct retired **list);
/* What malloc gave. */
void free_retired(struct retired *list);

SIGNAL_SAFE const struct code_range *code_map_find(const struct code_map *map, uint64_t pc);

/* After a dlclose other code may lie where a module was: until the next map only those that
 * cannot go are believed. A wrong row would give a wrong stack; a cut one says that it is cut. */
SIGNAL_SAFE_INLINE bool code_range_trusted(const struct code_map *map,
                                           const struct code_range *range)
{
    return range->permanent ||
           map->unloads == atomic_load_explicit(map->unloads_now, memory_order_acquire);
}

SIGNAL_SAFE struct code_map *code_map_new(uint32_t capacity);
SIGNAL_SAFE void code_map_free(struct code_map *map);

/* Takes map over. The one before is retired; it still lends its tables. */
SIGNAL_SAFE void code_map_publish(struct code_maps *maps, struct code_map *map);
/* Frees retired maps that no handler holds. True when none is left: tables only they used may go.
 */
SIGNAL_SAFE bool code_map_reclaim(struct code_maps *maps);
/* Only when no handler runs any more. */
void code_maps_free(struct code_maps *maps);

#endif

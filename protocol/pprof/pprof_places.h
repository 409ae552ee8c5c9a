/*
 * pprof_places.h - where readers of pprof profiles have to think that modules were loaded, and which
 * function is at an address there.
 *
 * A module's code stays where its file says, unless another one is there already: then it is moved
 * behind all others. So the program's own addresses are those that objdump shows. A module keeps its
 * place while the service lives: profiles of one service can be merged and compared by address.
 *
 * Ownership  The user's struct; all zeros is an empty one, pprof_places_free ends it.
 * Bounds     PPROF_MODULES_MAX; a further module has no addresses. Of the functions the latest.
 */
#ifndef ISOSCOPE_PPROF_PLACES_H
#define ISOSCOPE_PPROF_PLACES_H

#include "interned.h"
#include "../../sampler/profile/snapshot.h"

enum { PPROF_MODULES_MAX = 4096, PPROF_FUNCTIONS_MAX = 1 << 16 };

struct pprof_place {
    uint64_t start, limit, file_offset;
    uint64_t moved; /* by so much is an address above its offset in the module */
    bool known;
};

struct pprof_function {
    uint64_t start, end; /* addresses */
    uint32_t name;
};

struct pprof_places {
    struct interned modules; /* by library.id */
    struct pprof_place *places;
    uint32_t capacity;
    uint64_t top; /* the highest limit */
    struct interned names;
    struct pprof_function *functions; /* of profiles that were served; some more than once */
    uint32_t function_count;
    bool sorted;
};

/* NULL: it has no addresses. The first one that is asked for comes first. */
const struct pprof_place *pprof_place_of(struct pprof_places *places,
                                         const struct snapshot_library *library);
/* 0: not known. offset: in its library. */
uint64_t pprof_address(struct pprof_places *places, const struct snapshot_library *library,
                       uint64_t offset);
/* A profile tells of it, so its addresses may be asked for. */
void pprof_places_met(struct pprof_places *places, const struct snapshot_library *library,
                      const struct snapshot_function *function);
/* The function's name; NULL: no profile told of one there. Lent until the next call; not
 * 0-terminated. */
const char *pprof_places_name(struct pprof_places *places, uint64_t address, size_t *size);
void pprof_places_free(struct pprof_places *places);

#endif

/*
 * unit_cache.h - what has been read of one unit, until it has not been used for longest.
 *
 * Each part is read when it is first wanted: files and scopes alone are wanted of a unit whose
 * functions were inlined into another one.
 *
 * Ownership  The user's struct: all zeros is empty, unit_cache_free ends it. Paths are the pool's.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_UNIT_CACHE_H
#define ISOSCOPE_UNIT_CACHE_H

#include "line_table.h"
#include "scope_map.h"
#include "text_pool.h"
#include "unit_index.h"

struct line_function {
    const char *name, *linkage_name, *scope, *decl_file;
    uint32_t decl_line;
    bool known; /* the rest has been looked for */
};

struct unit_cache {
    struct unit_index *index;        /* NULL: not read */
    struct line_function *functions; /* by their numbers in the index's tree */
    struct line_files files;
    const char **paths; /* by file number; NULL: not put together; together NULL: files not read */
    struct scope_map *scopes; /* NULL: not read */
    uint64_t used;            /* when, in turns */
};

int unit_cache_index(struct unit_cache *cache, const struct dwarf_file *file,
                     const struct unit *unit);
int unit_cache_files(struct unit_cache *cache, const struct dwarf_file *file,
                     const struct unit *unit);
/* dies: the unit's. */
int unit_cache_scopes(struct unit_cache *cache, const struct unit_dies *dies);
void unit_cache_free(struct unit_cache *cache);
size_t unit_cache_bytes(const struct unit_cache *cache);

/* After unit_cache_files. NULL: there is no such file. */
const char *unit_cache_path(struct unit_cache *cache, const struct unit *unit, uint64_t number,
                            struct text_pool *pool);

#endif

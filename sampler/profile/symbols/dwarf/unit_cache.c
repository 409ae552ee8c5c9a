#include "unit_cache.h"

#include "../../../include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>

/* Longer ones are a lie; no system could open them. */
enum { PATH_BYTES = 8192 };

int unit_cache_index(struct unit_cache *cache, const struct dwarf_file *file,
                     const struct unit *unit)
{
    struct unit_index *index;

    if (cache->index)
        return 0;
    if (unit_index_read(&index, file, unit) < 0)
        return -ISOSCOPE_NO_MEMORY;
    cache->functions = calloc(index->tree.function_count + 1, sizeof(*cache->functions));
    if (!cache->functions) {
        unit_index_free(index);
        return -ISOSCOPE_NO_MEMORY;
    }
    cache->index = index;
    return 0;
}

int unit_cache_files(struct unit_cache *cache, const struct dwarf_file *file,
                     const struct unit *unit)
{
    if (cache->paths)
        return 0;
    if (line_files_read(&cache->files, &file->sections, unit->line_table) < 0)
        return -ISOSCOPE_NO_MEMORY;
    cache->paths = calloc(cache->files.count + 1, sizeof(*cache->paths));
    if (cache->paths)
        return 0;
    line_files_free(&cache->files);
    return -ISOSCOPE_NO_MEMORY;
}

int unit_cache_scopes(struct unit_cache *cache, const struct unit_dies *dies)
{
    return cache->scopes ? 0 : scope_map_read(&cache->scopes, dies);
}

void unit_cache_free(struct unit_cache *cache)
{
    unit_index_free(cache->index);
    free(cache->functions);
    line_files_free(&cache->files);
    free(cache->paths);
    scope_map_free(cache->scopes);
    *cache = (struct unit_cache){ 0 };
}

size_t unit_cache_bytes(const struct unit_cache *cache)
{
    size_t bytes = cache->files.capacity * sizeof(*cache->files.files) +
                   cache->files.count * sizeof(*cache->paths);

    if (cache->index)
        bytes += unit_index_bytes(cache->index) +
                 cache->index->tree.function_count * sizeof(*cache->functions);
    if (cache->scopes)
        bytes += scope_map_bytes(cache->scopes);
    return bytes;
}

static bool append_part(char *path, size_t *bytes, const char *part)
{
    int more = snprintf(path + *bytes, PATH_BYTES - *bytes, "%s%s",
                        *bytes && path[*bytes - 1] != '/' ? "/" : "", part);

    if (more < 0 || *bytes + (size_t)more >= PATH_BYTES)
        return false;
    *bytes += (size_t)more;
    return true;
}

/* As the compiler wrote it, but from the root where that is known. */
static const char *join_path(const struct unit *unit, const struct line_file *file,
                             struct text_pool *pool)
{
    const char *directory = file->directory ? file->directory : "";
    char path[PATH_BYTES];
    size_t bytes = 0;
    bool fits = true;

    if (file->name[0] != '/' && directory[0] != '/' && unit->comp_dir)
        fits = append_part(path, &bytes, unit->comp_dir);
    if (file->name[0] != '/' && directory[0])
        fits = fits && append_part(path, &bytes, directory);
    return fits && append_part(path, &bytes, file->name) ? text_pool_keep(pool, path) : NULL;
}

const char *unit_cache_path(struct unit_cache *cache, const struct unit *unit, uint64_t number,
                            struct text_pool *pool)
{
    if (number >= cache->files.count || !cache->files.files[number].name)
        return NULL;
    if (!cache->paths[number])
        cache->paths[number] = join_path(unit, &cache->files.files[number], pool);
    return cache->paths[number];
}

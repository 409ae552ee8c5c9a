#include "lines.h"

#include "../../include/isoscope/isoscope.h"
#include "dwarf/function_names.h"
#include "dwarf/scope.h"
#include "dwarf/unit_cache.h"

#include <stdlib.h>

enum {
    LIMIT_BYTES = 128 << 20, /* until lines_limit says otherwise */
    /* What libdw takes, as measured: for a unit, and for what it has read of one's DIEs. */
    LIBDW_UNIT_BYTES = 1024,
    LIBDW_READ_BYTES = 32 * 1024,
};

struct lines {
    struct dwarf_file file;
    struct units units;
    struct unit_cache *caches; /* by unit */
    struct text_pool texts;
    size_t limit_bytes;
    size_t cache_bytes; /* of all caches, as of their last change */
    size_t libdw_bytes;
    uint64_t turn;
    const char *reason;
};

static void reset_libdw_bytes(struct lines *lines)
{
    lines->libdw_bytes = (size_t)lines->units.count * LIBDW_UNIT_BYTES;
}

static int read_units(struct lines *lines)
{
    if (units_read(&lines->units, &lines->file) < 0)
        return -ISOSCOPE_NO_MEMORY;
    lines->caches = calloc(lines->units.count + 1, sizeof(*lines->caches));
    if (!lines->caches)
        return -ISOSCOPE_NO_MEMORY;
    reset_libdw_bytes(lines);
    if (!lines->units.starts.count)
        lines->reason = "the debug information tells of no code";
    return 0;
}

int lines_open(struct lines **out, const struct module_file *module)
{
    struct lines *lines = calloc(1, sizeof(*lines));

    if (!lines)
        return -ISOSCOPE_NO_MEMORY;
    lines->limit_bytes = LIMIT_BYTES;
    if (dwarf_file_open(&lines->file, module, &lines->reason) && read_units(lines) < 0) {
        lines_close(lines);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = lines;
    return 0;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    for (uint32_t i = 0; lines->caches && i < lines->units.count; i++)
        unit_cache_free(&lines->caches[i]);
    free(lines->caches);
    units_free(&lines->units);
    text_pool_free(&lines->texts);
    dwarf_file_close(&lines->file);
    free(lines);
}

void lines_limit(struct lines *lines, size_t bytes)
{
    lines->limit_bytes = bytes;
}

static uint32_t least_used(const struct lines *lines, uint32_t but)
{
    uint32_t found = UNIT_NONE;

    for (uint32_t i = 0; i < lines->units.count; i++)
        if (i != but &&
            (lines->caches[i].index || lines->caches[i].paths || lines->caches[i].scopes) &&
            (found == UNIT_NONE || lines->caches[i].used < lines->caches[found].used))
            found = i;
    return found;
}

/* The unit that is about to be used stays, however large it is. */
static void keep_limit(struct lines *lines, uint32_t unit)
{
    while (lines->cache_bytes > lines->limit_bytes) {
        uint32_t oldest = least_used(lines, unit);

        if (oldest == UNIT_NONE)
            return;
        lines->cache_bytes -= unit_cache_bytes(&lines->caches[oldest]);
        unit_cache_free(&lines->caches[oldest]);
    }
}

static bool read_files(struct lines *lines, uint32_t unit)
{
    struct unit_cache *cache = &lines->caches[unit];
    size_t before = unit_cache_bytes(cache);
    int status;

    if (cache->paths)
        return true;
    status = unit_cache_files(cache, &lines->file, &lines->units.units[unit]);
    lines->cache_bytes += unit_cache_bytes(cache) - before;
    cache->used = lines->turn;
    return status == 0;
}

/* Reads what is missing. NULL: out of memory. */
static struct unit_cache *use(struct lines *lines, uint32_t unit)
{
    struct unit_cache *cache = &lines->caches[unit];
    size_t before;

    cache->used = ++lines->turn;
    if (cache->index && cache->paths)
        return cache;
    if (lines->libdw_bytes > lines->limit_bytes) {
        if (!dwarf_file_reopen(&lines->file))
            lines->reason = "out of memory";
        reset_libdw_bytes(lines);
    }
    if (!lines->file.dwarf)
        return NULL;
    before = unit_cache_bytes(cache);
    if (unit_cache_index(cache, &lines->file, &lines->units.units[unit]) < 0)
        return NULL;
    lines->cache_bytes += unit_cache_bytes(cache) - before;
    lines->libdw_bytes += LIBDW_READ_BYTES;
    if (!read_files(lines, unit))
        return NULL;
    keep_limit(lines, unit);
    return cache;
}

/* Texts of other files are libdw's, which may be closed and opened again. */
static const char *keep(struct lines *lines, const char *text)
{
    if (!text || dwarf_file_holds(&lines->file, text))
        return text;
    return text_pool_keep(&lines->texts, text);
}

static const char *decl_file(struct lines *lines, uint32_t unit, struct function_names *names)
{
    Dwarf_Die unit_die;

    if (!names->declared)
        return NULL;
    if (!dwarf_diecu(&names->decl_die, &unit_die, NULL, NULL))
        return NULL;
    if (lines->units.units[unit].split)
        ; /* its numbers are those of the skeleton's table */
    else if (dwarf_cu_getdwarf(unit_die.cu) != lines->file.dwarf)
        return keep(lines, dwarf_decl_file(&names->decl_die));
    else
        unit = units_holding(&lines->units, dwarf_dieoffset(&unit_die));
    if (unit == UNIT_NONE || !read_files(lines, unit))
        return NULL;
    return unit_cache_path(&lines->caches[unit], &lines->units.units[unit], names->decl_file,
                           &lines->texts);
}

static const struct scope_map *read_scopes(struct lines *lines, uint32_t unit,
                                           const struct unit_dies *dies)
{
    struct unit_cache *cache = &lines->caches[unit];
    size_t before = unit_cache_bytes(cache);

    if (unit_cache_scopes(cache, dies) < 0)
        return NULL;
    lines->cache_bytes += unit_cache_bytes(cache) - before;
    cache->used = lines->turn;
    return cache->scopes;
}

/* Where a name is not mangled: what it is in. The definition may be inlined from another unit.
 * dies: of the unit that it is inlined into. */
static const char *scope(struct lines *lines, uint32_t unit, const struct unit_dies *dies,
                         struct function_names *names)
{
    uint64_t place = dwarf_dieoffset(&names->name_die);
    const struct scope_map *map;
    struct unit_dies own = *dies;
    const char *kept = NULL;
    char *text;

    if (names->linkage_name || !names->name || dwarf_cu_getdwarf(names->name_die.cu) != dies->dwarf)
        return NULL;
    if (dies->dwarf == lines->file.dwarf) {
        unit = units_holding(&lines->units, place);
        if (unit == UNIT_NONE || !unit_dies_find(&own, &lines->file, &lines->units.units[unit]))
            return NULL;
    }
    if (!lines->units.units[unit].scopes || !(map = read_scopes(lines, unit, &own)))
        return NULL;
    text = scope_of(map, &own, place);
    if (text)
        kept = text_pool_keep(&lines->texts, text);
    free(text);
    return kept;
}

static void find_names(struct lines *lines, uint32_t unit, uint64_t place,
                       struct line_function *out)
{
    struct function_names names;
    struct unit_dies dies;
    Dwarf_Die die;

    out->known = true;
    if (!unit_dies_find(&dies, &lines->file, &lines->units.units[unit]) ||
        !unit_dies_at(&dies, place, &die))
        return;
    function_names_read(&names, &die);
    out->name = keep(lines, names.name);
    out->linkage_name = keep(lines, names.linkage_name);
    out->scope = scope(lines, unit, &dies, &names);
    out->decl_file = decl_file(lines, unit, &names);
    out->decl_line = names.decl_line;
}

static void set_function(struct lines *lines, uint32_t unit, const struct inline_node *node,
                         struct line_frame *frame)
{
    struct line_function *function = &lines->caches[unit].functions[node->function];

    if (!function->known)
        find_names(lines, unit, node->die, function);
    frame->name = function->name;
    frame->linkage_name = function->linkage_name;
    frame->scope = function->scope;
    frame->decl_file = function->decl_file;
    frame->decl_line = function->decl_line;
    frame->inlined = node->caller != NODE_NONE;
}

uint32_t lines_find(struct lines *lines, uint64_t offset, struct line_frame out[LINES_FRAMES_MAX])
{
    uint32_t unit = units_at(&lines->units, offset), count = 0, node, file, line;
    struct unit_cache *cache = unit == UNIT_NONE ? NULL : use(lines, unit);
    const struct unit_row *row = cache ? unit_index_find(cache->index, offset) : NULL;

    if (!row)
        return 0;
    node = row->node;
    file = row->file;
    line = row->line;
    do {
        struct line_frame *frame = &out[count++];

        *frame = (struct line_frame){ .line = line };
        frame->file = unit_cache_path(cache, &lines->units.units[unit], file, &lines->texts);
        if (node == NODE_NONE)
            break;
        set_function(lines, unit, &cache->index->tree.nodes[node], frame);
        file = cache->index->tree.nodes[node].call_file;
        line = cache->index->tree.nodes[node].call_line;
        node = cache->index->tree.nodes[node].caller;
    } while (node != NODE_NONE && count < LINES_FRAMES_MAX);
    return count;
}

size_t lines_bytes(const struct lines *lines)
{
    return sizeof(*lines) + dwarf_file_bytes(&lines->file) + lines->libdw_bytes +
           lines->cache_bytes + lines->texts.bytes +
           lines->units.count * (sizeof(*lines->units.units) + sizeof(*lines->caches)) +
           block_search_bytes(&lines->units.starts) +
           lines->units.starts.count * sizeof(*lines->units.owners);
}

const char *lines_reason(const struct lines *lines)
{
    return lines->reason;
}

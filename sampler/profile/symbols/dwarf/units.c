#include "units.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "../../base/grow.h"

#include <dwarf.h>

/* Units may share range lists, so that a small file could ask for any number of them. */
enum { RANGES_MIN = 1 << 20 };

void units_free(struct units *units)
{
    free(units->units);
    block_search_free(&units->starts);
    free(units->owners);
    *units = (struct units){ 0 };
}

static int add_ranges(struct spans *spans, const struct dwarf_file *file, Dwarf_Die *die,
                      uint32_t unit, uint64_t *left)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    for (; *left > 0; (*left)--) {
        at = dwarf_ranges(die, at, &base, &start, &end);
        if (at <= 0)
            break;
        if (start < file->code_start || start >= file->code_end)
            continue;
        if (spans_add(spans, start, end, unit) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

static void set_language(struct unit *unit, int language)
{
    switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
        unit->types_without_code = true;
        unit->scopes = false;
        break;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
        /* Compilers put a method's code outside of its class, with a reference to it. */
        unit->types_without_code = true;
        unit->scopes = true;
        break;
    default: /* also of a skeleton, which may leave it to its .dwo file */
        unit->types_without_code = false;
        unit->scopes = true;
    }
}

/* What the unit's own DIE says. */
static int add_unit(struct units *units, const struct dwarf_file *file,
                    const struct unit_header *header)
{
    struct unit unit = { .header = *header, .line_table = NO_LINE_TABLE };
    Dwarf_Attribute attr;
    Dwarf_Word value;
    Dwarf_Die die;

    if (!dwarf_offdie(file->dwarf, header->die, &die))
        return 0;
    if (dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attr), &value) == 0)
        unit.line_table = value;
    unit.comp_dir = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attr));
    if (unit.comp_dir && !dwarf_file_holds(file, unit.comp_dir))
        unit.comp_dir = NULL;
    set_language(&unit, dwarf_srclang(&die));
    unit.split = dwarf_hasattr(&die, DW_AT_dwo_name) || dwarf_hasattr(&die, DW_AT_GNU_dwo_name);
    if (units->count == UNIT_NONE || !GROW(units->units, units->count, units->capacity))
        return -ISOSCOPE_NO_MEMORY;
    units->units[units->count++] = unit;
    return 0;
}

/* Backwards: of units that claim the same function the linker took the first one's, and of equal
 * spans the last one wins. */
static int add_all_ranges(const struct units *units, struct spans *spans,
                          const struct dwarf_file *file)
{
    uint64_t info_bytes = file->sections.info.count;
    uint64_t left = info_bytes > RANGES_MIN ? info_bytes : RANGES_MIN;
    Dwarf_Die die;

    for (uint32_t i = units->count; i-- > 0;)
        if (dwarf_offdie(file->dwarf, units->units[i].header.die, &die) &&
            add_ranges(spans, file, &die, i, &left) < 0)
            return -ISOSCOPE_NO_MEMORY;
    return 0;
}

static int index_ranges(struct units *units, const struct cuts *cuts)
{
    units->owners = reallocarray(NULL, cuts->count + 1, sizeof(*units->owners));
    if (!units->owners || block_search_reserve(&units->starts, cuts->count) < 0)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < cuts->count; i++) {
        if (!block_search_add(&units->starts, cuts->cuts[i].start))
            break;
        units->owners[i] = cuts->cuts[i].id;
    }
    return block_search_build(&units->starts);
}

static void free_spans(struct spans *spans)
{
    spans_free(spans);
}

int units_read(struct units *out, const struct dwarf_file *file)
{
    CLEANUP(units_free) struct units units = { 0 };
    CLEANUP(free_spans) struct spans spans = { 0 };
    CLEANUP(cuts_free) struct cuts cuts = { 0 };
    struct unit_header header;
    uint64_t place = 0;

    while (unit_header_read(file->sections.info, &place, &header))
        if (!header.types && add_unit(&units, file, &header) < 0)
            return -ISOSCOPE_NO_MEMORY;
    if (add_all_ranges(&units, &spans, file) < 0 || spans_cut(&spans, &cuts) < 0 ||
        index_ranges(&units, &cuts) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *out = units;
    units = (struct units){ 0 };
    return 0;
}

uint32_t units_at(const struct units *units, uint64_t address)
{
    uint32_t range = block_search_find(&units->starts, address);

    return range == BLOCK_NONE ? UNIT_NONE : units->owners[range];
}

uint32_t units_holding(const struct units *units, uint64_t place)
{
    uint32_t first = 0, count = units->count;

    while (count > 1) {
        uint32_t half = count / 2;

        if (units->units[first + half].header.start <= place) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    if (!count || place < units->units[first].header.start ||
        place >= units->units[first].header.end)
        return UNIT_NONE;
    return first;
}

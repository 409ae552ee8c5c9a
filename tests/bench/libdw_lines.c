/*
 * libdw_lines.c - what symbols_bench's `lines` does, by libdw alone: lines and inlined functions of
 * addresses.
 *
 *     libdw_lines index|scopes DEBUG_FILE ADDRESSES
 *
 * index: an own index over what libdw says of each unit that is asked for: its functions and inlined
 * calls by dwarf_child, dwarf_siblingof and dwarf_ranges. scopes: dwarf_getscopes for each address.
 * In both, units are found by an own index, and lines by dwarf_getsrc_die.
 */
#include "own_usage.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct span {
    Dwarf_Addr start, end;
    uint32_t unit, depth;
    Dwarf_Off die;
};

struct spans {
    struct span *items;
    size_t count, capacity;
};

struct unit {
    Dwarf_Die die;
    struct spans code; /* by start, then the outer one first */
    bool read;
};

static struct unit *units;
static uint32_t unit_count;
static struct spans unit_spans;

static void add_span(struct spans *spans, struct span span)
{
    if (spans->count == spans->capacity) {
        spans->capacity = spans->capacity ? 2 * spans->capacity : 64;
        spans->items = reallocarray(spans->items, spans->capacity, sizeof span);
        if (!spans->items)
            exit(1);
    }
    spans->items[spans->count++] = span;
}

static void add_ranges(struct spans *spans, Dwarf_Die *die, uint32_t unit, uint32_t depth)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;

    while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
        if (start < end)
            add_span(spans, (struct span){ start, end, unit, depth, dwarf_dieoffset(die) });
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static void sort_spans(struct spans *spans)
{
    qsort(spans->items, spans->count, sizeof spans->items[0], compare_spans);
}

static void read_units(Dwarf *dwarf)
{
    Dwarf_Off at = 0, next;
    size_t header;

    for (; dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
        units = reallocarray(units, unit_count + 1, sizeof units[0]);
        if (!units)
            exit(1);
        memset(&units[unit_count], 0, sizeof units[0]);
        if (!dwarf_offdie(dwarf, at + header, &units[unit_count].die))
            continue;
        add_ranges(&unit_spans, &units[unit_count].die, unit_count, 0);
        unit_count++;
    }
    sort_spans(&unit_spans);
}

static struct unit *unit_at(uint64_t address)
{
    size_t low = 0, high = unit_spans.count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (unit_spans.items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < unit_spans.count && unit_spans.items[low].start <= address
               ? &units[unit_spans.items[low].unit]
               : NULL;
}

static void walk(struct unit *unit, Dwarf_Die *parent, uint32_t depth)
{
    Dwarf_Die die;

    if (dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        bool code = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;

        if (code)
            add_ranges(&unit->code, &die, 0, depth);
        if (code || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
            tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
            walk(unit, &die, depth + code);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static uint64_t name_die(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name != NULL;
}

static uint64_t frames_by_index(Dwarf *dwarf, struct unit *unit, uint64_t address)
{
    uint64_t frames = 0;
    size_t low = 0, high;

    if (!unit->read) {
        walk(unit, &unit->die, 0);
        sort_spans(&unit->code);
        unit->read = true;
    }
    high = unit->code.count;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (unit->code.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Back to the function around: the first span of depth 0 that holds the address. */
    while (low-- > 0) {
        const struct span *span = &unit->code.items[low];
        Dwarf_Die die;

        if (span->end <= address)
            continue;
        if (dwarf_offdie(dwarf, span->die, &die))
            frames += name_die(&die);
        if (!span->depth)
            break;
    }
    return frames;
}

static uint64_t frames_by_scopes(struct unit *unit, uint64_t address)
{
    Dwarf_Die *scopes, *inlined = NULL;
    int count = dwarf_getscopes(&unit->die, address, &scopes), kept = 0;
    uint64_t frames = 0;

    if (count > 0) {
        kept = dwarf_getscopes_die(&scopes[0], &inlined);
        free(scopes);
    }
    for (int i = 0; i < kept; i++) {
        int tag = dwarf_tag(&inlined[i]);

        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            frames += name_die(&inlined[i]);
    }
    if (kept > 0)
        free(inlined);
    return frames;
}

static void print_peak(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("peak_kib %ld\n", usage.ru_maxrss);
}

int main(int argc, char **argv)
{
    uint64_t frames = 0, lines = 0;
    char text[64];
    FILE *addresses = argc == 4 ? fopen(argv[3], "r") : NULL;
    int fd = argc == 4 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;

    if (!addresses || !dwarf) {
        fprintf(stderr, "usage: libdw_lines index|scopes DEBUG_FILE ADDRESSES\n");
        return 2;
    }
    read_units(dwarf);
    while (fgets(text, sizeof text, addresses)) {
        uint64_t address = strtoul(text, NULL, 16);
        struct unit *unit = unit_at(address);
        Dwarf_Line *line = unit ? dwarf_getsrc_die(&unit->die, address) : NULL;

        lines += line && dwarf_linesrc(line, NULL, NULL);
        if (unit)
            frames += !strcmp(argv[1], "index") ? frames_by_index(dwarf, unit, address)
                                                : frames_by_scopes(unit, address);
    }
    printf("frames %lu\nlines %lu\n", frames, lines);
    print_own_usage();
    print_peak();
    return 0;
}

#include "ranges.h"

#include "../../../include/isoscope/isoscope.h"
#include "cold_parts.h"

#include <stdlib.h>
#include <string.h>

enum { RANK_LOCAL = 1, RANK_WEAK = 2, RANK_RESOLVER = 4, RANK_UNSIZED = 8, RANK_LABEL = 16 };

/* Without its version: "write@@GLIBC_2.2.5" is called write. "write@plt" stays. */
static size_t name_bytes(const char *name)
{
    const char *version = strchr(name + 1, '@');

    return version && strcmp(version, "@plt") != 0 ? (size_t)(version - name) : strlen(name);
}

static int add_text(struct ranges *ranges, const char *text, size_t bytes, uint32_t *place)
{
    size_t after = ranges->texts_bytes + bytes + 1;

    if (after > UINT32_MAX)
        return -ISOSCOPE_NO_MEMORY;
    if (after > ranges->texts_capacity) {
        size_t capacity = after * 2;
        char *texts = realloc(ranges->texts, capacity);

        if (!texts)
            return -ISOSCOPE_NO_MEMORY;
        ranges->texts = texts;
        ranges->texts_capacity = capacity;
    }
    memcpy(ranges->texts + ranges->texts_bytes, text, bytes);
    ranges->texts[ranges->texts_bytes + bytes] = 0;
    *place = (uint32_t)ranges->texts_bytes;
    ranges->texts_bytes = after;
    return 0;
}

static int reserve_symbol(struct ranges *ranges)
{
    uint32_t capacity = ranges->symbol_capacity ? ranges->symbol_capacity * 2 : 256;
    struct range_symbol *symbols;

    if (ranges->symbol_count < ranges->symbol_capacity)
        return 0;
    if (capacity > INT32_MAX)
        return -ISOSCOPE_NO_MEMORY;
    symbols = reallocarray(ranges->symbols, capacity, sizeof(*symbols));
    if (!symbols)
        return -ISOSCOPE_NO_MEMORY;
    ranges->symbols = symbols;
    ranges->symbol_capacity = capacity;
    return 0;
}

int ranges_add(struct ranges *ranges, const struct elf_function *function)
{
    uint64_t room = function->limit - function->start;
    uint64_t size = function->size < room ? function->size : room;
    struct range_symbol symbol = { .start = function->start,
                                   .end = function->start + size,
                                   .home = function->start,
                                   .file = function->file,
                                   .resolver = function->resolver,
                                   .filler = size == 0 || function->label };

    /* A section that wraps around the address space: a lie. */
    if (function->limit <= function->start)
        return 0;
    symbol.rank =
        (uint8_t)((function->label ? RANK_LABEL : 0) | (size == 0 ? RANK_UNSIZED : 0) |
                  (function->resolver ? RANK_RESOLVER : 0) | (function->weak ? RANK_WEAK : 0) |
                  (function->weak || function->global ? 0 : RANK_LOCAL));
    if (size == 0)
        symbol.end = function->limit; /* ranges_build knows the next symbol */
    if (reserve_symbol(ranges) < 0 ||
        add_text(ranges, function->name, name_bytes(function->name), &symbol.name) < 0)
        return -ISOSCOPE_NO_MEMORY;
    ranges->symbols[ranges->symbol_count++] = symbol;
    return 0;
}

static size_t underscores(const char *name)
{
    return strspn(name, "_");
}

static int by_start_and_rank(const void *left, const void *right, void *texts)
{
    const struct range_symbol *a = left, *b = right;
    const char *a_name = (const char *)texts + a->name, *b_name = (const char *)texts + b->name;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (underscores(a_name) != underscores(b_name))
        return underscores(a_name) < underscores(b_name) ? -1 : 1;
    return strcmp(a_name, b_name);
}

static void keep_best_of_each_start(struct ranges *ranges)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ranges->symbol_count; i++) {
        struct range_symbol symbol = ranges->symbols[i];

        if (kept && ranges->symbols[kept - 1].start == symbol.start)
            continue;
        ranges->symbols[kept++] = symbol;
    }
    ranges->symbol_count = kept;
}

static void end_unsized_at_the_next(struct ranges *ranges)
{
    for (uint32_t i = 0; i + 1 < ranges->symbol_count; i++) {
        struct range_symbol *symbol = &ranges->symbols[i];

        if ((symbol->rank & RANK_UNSIZED) && symbol->end > symbol[1].start)
            symbol->end = symbol[1].start;
    }
}

static void emit(struct ranges *ranges, uint64_t start, uint32_t symbol)
{
    if (ranges->range_count && ranges->ranges[ranges->range_count - 1].start == start)
        ranges->range_count--;
    ranges->ranges[ranges->range_count++] = (struct range){ start, symbol };
}

/* Ends the open symbols that lie wholly before the address, innermost first. Returns how many stay
 * open. */
static uint32_t close_before(struct ranges *ranges, const uint32_t *open, uint32_t depth,
                             uint64_t address)
{
    const struct range_symbol *symbols = ranges->symbols;

    while (depth && symbols[open[depth - 1]].end <= address) {
        uint64_t end = symbols[open[--depth]].end;

        while (depth && symbols[open[depth - 1]].end <= end)
            depth--;
        emit(ranges, end, depth ? open[depth - 1] : UINT32_MAX);
    }
    return depth;
}

/* open: the symbols that cover the present address, innermost last. */
static void sweep(struct ranges *ranges, uint32_t *open)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < ranges->symbol_count; i++) {
        const struct range_symbol *symbol = &ranges->symbols[i];

        depth = close_before(ranges, open, depth, symbol->start);
        if (symbol->filler && depth)
            continue;
        emit(ranges, symbol->start, i);
        open[depth++] = i;
    }
    close_before(ranges, open, depth, UINT64_MAX);
}

int ranges_build(struct ranges *ranges)
{
    uint32_t *open;

    if (cold_parts_find_home(ranges) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (ranges->symbol_count)
        qsort_r(ranges->symbols, ranges->symbol_count, sizeof(*ranges->symbols), by_start_and_rank,
                ranges->texts);
    keep_best_of_each_start(ranges);
    end_unsized_at_the_next(ranges);
    open = calloc(ranges->symbol_count + 1, sizeof(*open));
    /* Each symbol begins a range and ends one. */
    ranges->ranges = calloc(2 * (size_t)ranges->symbol_count + 1, sizeof(*ranges->ranges));
    if (open && ranges->ranges)
        sweep(ranges, open);
    free(open);
    return open && ranges->ranges ? 0 : -ISOSCOPE_NO_MEMORY;
}

void ranges_free(struct ranges *ranges)
{
    free(ranges->symbols);
    free(ranges->ranges);
    free(ranges->texts);
    *ranges = (struct ranges){ 0 };
}

bool ranges_empty(const struct ranges *ranges)
{
    return ranges->symbol_count == 0;
}

/* UINT32_MAX: none covers it. */
static uint32_t symbol_at(const struct ranges *ranges, uint64_t address)
{
    uint32_t low = 0, high = ranges->range_count;

    /* The last range that starts at or before the address: low - 1. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (ranges->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? ranges->ranges[low - 1].symbol : UINT32_MAX;
}

bool ranges_find(const struct ranges *ranges, uint64_t address, uint32_t *number)
{
    uint32_t symbol = symbol_at(ranges, address), home;

    if (symbol == UINT32_MAX)
        return false;
    if (ranges->symbols[symbol].home != ranges->symbols[symbol].start) {
        home = symbol_at(ranges, ranges->symbols[symbol].home);
        symbol = home == UINT32_MAX ? symbol : home;
    }
    *number = symbol;
    return true;
}

char *ranges_name(const struct ranges *ranges, uint32_t number)
{
    return ranges->texts + ranges->symbols[number].name;
}

#include "ranges.h"

#include "../../../include/isoscope/isoscope.h"
#include "../key_sort.h"
#include "cold_parts.h"

#include <stdlib.h>
#include <string.h>

enum { RANK_LOCAL = 1, RANK_WEAK = 2, RANK_RESOLVER = 4, RANK_UNSIZED = 8, RANK_LABEL = 16 };

/* Without its version: "write@@GLIBC_2.2.5" is called write. "write@plt" stays. */
static size_t name_bytes(const struct elf_function *function)
{
    const char *name = function->name, *version = memchr(name + 1, '@', function->name_bytes - 1);

    return version && strcmp(version, "@plt") != 0 ? (size_t)(version - name)
                                                   : function->name_bytes;
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
                                   .home = ranges->symbol_count,
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
        add_text(ranges, function->name, name_bytes(function), &symbol.name) < 0)
        return -ISOSCOPE_NO_MEMORY;
    ranges->symbols[ranges->symbol_count++] = symbol;
    return 0;
}

static size_t underscores(const char *name)
{
    return strspn(name, "_");
}

/* What is behind that which marks aliases: "wait4" of "__wait4" and of "__GI___wait4", by which glibc calls
 * what it exports. */
static const char *plain(const char *name)
{
    static const char inner[] = "__GI_";

    if (!strncmp(name, inner, sizeof(inner) - 1))
        name += sizeof(inner) - 1;
    return name + underscores(name);
}

/* Of two that start at the same address. */
static bool is_better(const struct ranges *ranges, const struct range_symbol *a,
                      const struct range_symbol *b)
{
    const char *a_name = ranges->texts + a->name, *b_name = ranges->texts + b->name;

    /* Aliases of one name: the plain one, though a weak one. */
    if (a->rank < RANK_RESOLVER && b->rank < RANK_RESOLVER && !strcmp(plain(a_name), plain(b_name)))
        return strlen(a_name) < strlen(b_name);
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (underscores(a_name) != underscores(b_name))
        return underscores(a_name) < underscores(b_name);
    return strcmp(a_name, b_name) < 0;
}

/* order: of all symbols, by start. Leaves the best of each start. Returns how many. */
static uint32_t keep_best_of_each_start(const struct ranges *ranges, struct sort_key *order)
{
    const struct range_symbol *symbols = ranges->symbols;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ranges->symbol_count; i++) {
        if (!kept || order[kept - 1].key != order[i].key)
            order[kept++] = order[i];
        else if (is_better(ranges, &symbols[order[i].number], &symbols[order[kept - 1].number]))
            order[kept - 1] = order[i];
    }
    return kept;
}

static void end_unsized_at_the_next(struct ranges *ranges, const struct sort_key *order,
                                    uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++) {
        struct range_symbol *symbol = &ranges->symbols[order[i].number];

        if ((symbol->rank & RANK_UNSIZED) && symbol->end > order[i + 1].key)
            symbol->end = order[i + 1].key;
    }
}

static void emit(struct ranges *ranges, uint64_t start, uint32_t symbol)
{
    if (ranges->range_count && ranges->starts[ranges->range_count - 1] == start)
        ranges->range_count--;
    ranges->starts[ranges->range_count] = start;
    ranges->range_symbols[ranges->range_count++] = symbol;
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
static void sweep(struct ranges *ranges, const struct sort_key *order, uint32_t count,
                  uint32_t *open)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct range_symbol *symbol = &ranges->symbols[order[i].number];

        depth = close_before(ranges, open, depth, symbol->start);
        if (symbol->filler && depth)
            continue;
        emit(ranges, symbol->start, order[i].number);
        open[depth++] = order[i].number;
    }
    close_before(ranges, open, depth, UINT64_MAX);
}

/* order: the best of each start. */
static int make_ranges(struct ranges *ranges, const struct sort_key *order, uint32_t count)
{
    uint32_t *open = calloc((size_t)count + 1, sizeof(*open));
    /* Each symbol begins a range and ends one. */
    size_t ends = 2 * (size_t)count + 1;

    ranges->starts = reallocarray(NULL, ends, sizeof(*ranges->starts));
    ranges->range_symbols = reallocarray(NULL, ends, sizeof(*ranges->range_symbols));
    if (!open || !ranges->starts || !ranges->range_symbols) {
        free(open);
        return -ISOSCOPE_NO_MEMORY;
    }
    sweep(ranges, order, count, open);
    free(open);
    return 0;
}

int ranges_build(struct ranges *ranges)
{
    uint32_t count = ranges->symbol_count;
    struct sort_key *order = reallocarray(NULL, (size_t)count + 1, sizeof(*order));
    int error = order ? cold_parts_find_home(ranges) : -ISOSCOPE_NO_MEMORY;

    for (uint32_t i = 0; !error && i < count; i++)
        order[i] = (struct sort_key){ ranges->symbols[i].start, i };
    if (!error)
        error = key_sort(order, count);
    if (!error) {
        count = keep_best_of_each_start(ranges, order);
        end_unsized_at_the_next(ranges, order, count);
        error = make_ranges(ranges, order, count);
    }
    free(order);
    return error;
}

void ranges_free(struct ranges *ranges)
{
    free(ranges->symbols);
    free(ranges->starts);
    free(ranges->range_symbols);
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

        if (ranges->starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? ranges->range_symbols[low - 1] : UINT32_MAX;
}

/* The function that a symbol is a part of. */
static uint32_t function_of(const struct ranges *ranges, uint32_t symbol)
{
    uint32_t home = ranges->symbols[symbol].home;

    /* Another name of the same function may be the better one. */
    if (home != symbol)
        home = symbol_at(ranges, ranges->symbols[home].start);
    return home == UINT32_MAX ? symbol : home;
}

bool ranges_find(const struct ranges *ranges, uint64_t address, uint32_t *number)
{
    uint32_t symbol = symbol_at(ranges, address);

    if (symbol == UINT32_MAX)
        return false;
    *number = function_of(ranges, symbol);
    return true;
}

/* Those that begin within. */
static uint32_t add_parts(const struct ranges *ranges, uint32_t number, struct code_part within,
                          struct code_part *out, uint32_t max)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i + 1 < ranges->range_count && count < max; i++) {
        uint32_t symbol = ranges->range_symbols[i];

        if (symbol != UINT32_MAX && ranges->starts[i] >= within.start &&
            ranges->starts[i] < within.end && function_of(ranges, symbol) == number)
            out[count++] = (struct code_part){ ranges->starts[i], ranges->starts[i + 1] };
    }
    return count;
}

uint32_t ranges_parts(const struct ranges *ranges, uint32_t number, struct code_part *out,
                      uint32_t max)
{
    uint64_t start = ranges->symbols[number].start;
    uint32_t count = add_parts(ranges, number, (struct code_part){ start, UINT64_MAX }, out, max);

    return count +
           add_parts(ranges, number, (struct code_part){ 0, start }, out + count, max - count);
}

uint64_t ranges_next(const struct ranges *ranges, uint64_t address)
{
    for (uint32_t i = 0; i < ranges->range_count; i++)
        if (ranges->starts[i] > address && ranges->range_symbols[i] != UINT32_MAX)
            return ranges->starts[i];
    return UINT64_MAX;
}

char *ranges_name(const struct ranges *ranges, uint32_t number)
{
    return ranges->texts + ranges->symbols[number].name;
}

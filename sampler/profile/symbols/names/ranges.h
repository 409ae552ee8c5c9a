/*
 * ranges.h - many overlapping symbols made into disjoint ranges of addresses, one symbol each.
 *
 *     ranges_add ... ranges_add, ranges_build, ranges_find ... ranges_find
 *
 * A cold part, which the compiler moved away from its function, belongs to that function.
 *
 * Ownership  The user's struct: all zeros is empty, ranges_free ends it. Names are copied.
 * Threads    ranges_find and ranges_name: any, once it is built.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_RANGES_H
#define ISOSCOPE_RANGES_H

#include "../files/elf_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range_symbol {
    uint64_t start, end; /* end = start: not known */
    uint32_t home;       /* number of the function that it is a cold part of; else its own */
    uint32_t name;       /* place in texts */
    uint32_t file;       /* as elf_function's */
    uint8_t rank;        /* the smaller the better */
    bool filler;         /* yields to everything that covers its start */
    bool resolver;
};

/* [start, end) */
struct code_part {
    uint64_t start, end;
};

struct ranges {
    struct range_symbol *symbols; /* as they were added */
    uint32_t symbol_count, symbol_capacity;
    uint64_t *starts;        /* of the ranges, each of which goes up to the next one's; ascending */
    uint32_t *range_symbols; /* by range; UINT32_MAX: none */
    uint32_t range_count;
    char *texts;
    size_t texts_bytes, texts_capacity;
};

int ranges_add(struct ranges *ranges, const struct elf_function *function);
int ranges_build(struct ranges *ranges);
void ranges_free(struct ranges *ranges);

bool ranges_empty(const struct ranges *ranges);
/* False: no symbol covers the address. number: index into symbols; a cold part's function. */
bool ranges_find(const struct ranges *ranges, uint64_t address, uint32_t *number);
/* The ranges of the function with that number, its cold parts too: first those from its start on.
 * Returns how many; fills at most max. */
uint32_t ranges_parts(const struct ranges *ranges, uint32_t number, struct code_part *out,
                      uint32_t max);
/* Where the next symbol begins behind the address; UINT64_MAX: there is none. */
uint64_t ranges_next(const struct ranges *ranges, uint64_t address);
char *ranges_name(const struct ranges *ranges, uint32_t number);

#endif

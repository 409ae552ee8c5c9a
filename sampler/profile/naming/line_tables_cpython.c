/* Three generations of CPython's tables. All go from the code's start, and say how far lines move on. */
#include "line_tables.h"

enum {
    /* 3.10: the range has no line. */
    NO_LINE_DELTA = -128,
    /* From 3.11 on: the top bit begins an entry; below it 4 bits of kind, and 3 of length - 1. */
    ENTRY_BEGINS = 0x80,
    CODE_UNIT_BYTES = 2,
    KIND_ONE_LINE = 10, /* 10, 11, 12: that many lines on, less 10 */
    KIND_NO_COLUMNS = 13,
    KIND_LONG = 14,
    KIND_NONE = 15,
    /* Numbers: 6 bits a byte, the lowest first. */
    NUMBER_BITS = 6,
    NUMBER_MORE = 0x40,
    NUMBER_SHIFT_MAX = 30,
};

/* Up to 3.9: pairs (bytes on, lines on). A line begins where its pair leads to. */
int64_t line_in_lnotab(struct line_table table, int64_t first_line, uint32_t position)
{
    int64_t line = first_line, reached = 0;
    uint8_t bytes, lines;

    while (line_table_byte(&table, &bytes) && line_table_byte(&table, &lines)) {
        reached += bytes;
        if (reached > position)
            break;
        line += (int8_t)lines;
    }
    return line;
}

/* 3.10: pairs (bytes that the range has, lines on from the range before). */
int64_t line_in_ranges(struct line_table table, int64_t first_line, uint32_t position)
{
    int64_t line = first_line, end = 0;
    uint8_t bytes, lines;

    while (line_table_byte(&table, &bytes) && line_table_byte(&table, &lines)) {
        bool has_line = (int8_t)lines != NO_LINE_DELTA;

        end += bytes;
        line += has_line ? (int8_t)lines : 0;
        if (position < end)
            return has_line ? line : 0;
    }
    return 0;
}

/* A number, of which the lowest bit is the sign. */
static int64_t signed_number(struct line_table *table)
{
    uint64_t value = 0;
    uint8_t byte = NUMBER_MORE;

    for (unsigned shift = 0; byte & NUMBER_MORE && shift <= NUMBER_SHIFT_MAX;
         shift += NUMBER_BITS) {
        line_table_byte(table, &byte);
        value |= (uint64_t)(byte & (NUMBER_MORE - 1)) << shift;
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t lines_on(struct line_table *table, unsigned kind)
{
    if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
        return signed_number(table);
    if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMNS)
        return kind - KIND_ONE_LINE;
    return 0;
}

/* From 3.11 on: entries of several bytes, with columns, which are skipped. */
int64_t line_in_locations(struct line_table table, int64_t first_line, uint32_t position)
{
    int64_t line = first_line, end = 0;
    uint8_t head;

    while (line_table_byte(&table, &head)) {
        unsigned kind;

        if (!(head & ENTRY_BEGINS))
            continue; /* columns of the entry before */
        kind = head >> 3 & 15;
        line += lines_on(&table, kind);
        end += ((head & 7) + 1) * CODE_UNIT_BYTES;
        if (position < end)
            return kind == KIND_NONE ? 0 : line;
    }
    return 0;
}

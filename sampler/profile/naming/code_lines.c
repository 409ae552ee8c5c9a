#include "code_lines.h"

#include "line_tables.h"

#include <string.h>

/* A pair of PAIRS. */
struct line_from {
    uint32_t position, line;
};

/* The last pair that is not behind the position. Pairs that do not ascend give some line of theirs. */
static int64_t line_in_pairs(struct line_table table, uint32_t position)
{
    size_t low = 0, high = (size_t)(table.end - table.at) / sizeof(struct line_from);
    struct line_from pair;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        memcpy(&pair, table.at + middle * sizeof(pair), sizeof(pair));
        if (pair.position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    memcpy(&pair, table.at + (low - 1) * sizeof(pair), sizeof(pair));
    return pair.line;
}

static int64_t line_of(const struct feed_code_text *code, uint32_t position)
{
    struct line_table table = { code->table, code->table + code->table_bytes };

    switch (code->lines) {
    case FEED_LINES_DIRECT:
    case FEED_LINES_V8_CHARACTER:
        return position;
    case FEED_LINES_PAIRS:
        return line_in_pairs(table, position);
    case FEED_LINES_CPYTHON_39:
        return line_in_lnotab(table, code->first_line, position);
    case FEED_LINES_CPYTHON_310:
        return line_in_ranges(table, code->first_line, position);
    case FEED_LINES_CPYTHON_311:
        return line_in_locations(table, code->first_line, position);
    case FEED_LINES_JVM:
        return line_in_jvm(table, 0, position);
    case FEED_LINES_JVM_20:
        return line_in_jvm(table, 1, position);
    case FEED_LINES_V8:
        return place_in_v8(table, position);
    case FEED_LINES_V8_OPTIMIZED: /* several functions' */
    case FEED_LINES_INLINED:
    case FEED_LINES_COUNT:
        break;
    }
    return 0;
}

uint32_t code_line(const struct feed_code_text *code, uint32_t position)
{
    bool of_cpython = code->lines >= FEED_LINES_CPYTHON_39 && code->lines <= FEED_LINES_CPYTHON_311;
    int64_t line;

    if (position == FEED_NO_POSITION) /* CPython's word for a frame that has not begun, too */
        line = of_cpython ? code->first_line : 0;
    else
        line = line_of(code, position);
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

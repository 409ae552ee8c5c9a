/* V8's source position table: how far the code's offset and the source position move on. */
#include "line_tables.h"

enum {
    NUMBER_BITS = 7,
    NUMBER_MORE = 0x80,
    NUMBER_SHIFT_MAX = 63,
    /* A source position: a bit that says that it is of another kind, the place in the script + 1, and by which
     * call it was inlined + 1. */
    POSITION_IS_EXTERNAL = 1,
    POSITION_PLACE_BITS = 30,
    POSITION_CALL_BITS = 16,
};

/* 7 bits a byte, the lowest first; the lowest of all is the sign. False: the table ends. */
static bool number(struct line_table *table, int64_t *out)
{
    uint64_t value = 0;
    uint8_t byte = NUMBER_MORE;

    for (unsigned shift = 0; byte & NUMBER_MORE && shift <= NUMBER_SHIFT_MAX;
         shift += NUMBER_BITS) {
        if (!line_table_byte(table, &byte))
            return false;
        value |= (uint64_t)(byte & (NUMBER_MORE - 1)) << shift;
    }
    *out = (int64_t)(value >> 1 ^ -(value & 1));
    return true;
}

bool v8_next_place(struct line_table *table, struct v8_entry *entry)
{
    int64_t offset_on, source_on;

    if (!number(table, &offset_on) || !number(table, &source_on))
        return false;
    /* Offsets only grow; below zero stands for an expression, not a statement. */
    entry->offset += offset_on < 0 ? ~(uint64_t)offset_on : (uint64_t)offset_on;
    entry->source += (uint64_t)source_on;
    return true;
}

bool v8_source_place(uint64_t source, uint32_t *place, uint32_t *call)
{
    *place = (uint32_t)(source >> 1 & ((1u << POSITION_PLACE_BITS) - 1));
    *call = (uint32_t)(source >> (1 + POSITION_PLACE_BITS) & ((1u << POSITION_CALL_BITS) - 1));
    return !(source & POSITION_IS_EXTERNAL);
}

/* The last entry that is not behind the position. */
int64_t place_in_v8(struct line_table table, uint32_t position)
{
    struct v8_entry entry = { 0 };
    uint32_t place = 0, found, call;

    while (v8_next_place(&table, &entry) && entry.offset <= (uint64_t)position + 1)
        if (v8_source_place(entry.source, &found, &call))
            place = found;
    return place;
}

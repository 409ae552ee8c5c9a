/* V8's source position table: how far the code's offset and the source position move on. */
#include "line_tables.h"

enum {
    NUMBER_BITS = 7,
    NUMBER_MORE = 0x80,
    NUMBER_SHIFT_MAX = 63,
    /* A source position: a bit that says that it is of another kind, then the place in the script + 1. */
    POSITION_IS_EXTERNAL = 1,
    POSITION_PLACE_BITS = 30,
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

/* The last entry that is not behind the position. */
int64_t place_in_v8(struct line_table table, uint32_t position)
{
    int64_t offset_on, source_on, place = 0;
    uint64_t offset = 0, source = 0;

    while (number(&table, &offset_on) && number(&table, &source_on)) {
        /* Offsets only grow; below zero stands for an expression, not a statement. */
        offset += offset_on < 0 ? ~(uint64_t)offset_on : (uint64_t)offset_on;
        source += (uint64_t)source_on;
        if (offset > position)
            break;
        if (!(source & POSITION_IS_EXTERNAL))
            place = (int64_t)(source >> 1 & ((1 << POSITION_PLACE_BITS) - 1));
    }
    return place;
}

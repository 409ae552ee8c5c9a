/*
 * unit_shape.h - what the header of a compilation unit says, and how long values are in it.
 *
 * Errors     unit_header_read: false at the section's end, or where nonsense begins.
 */
#ifndef ISOSCOPE_UNIT_SHAPE_H
#define ISOSCOPE_UNIT_SHAPE_H

#include "cursor.h"

enum { FORM_BYTES_VARY = -1 };

struct unit_shape {
    uint8_t version, address_bytes, offset_bytes;
};

struct unit_header {
    struct unit_shape shape;
    bool types;               /* of types alone: no code */
    uint64_t start, die, end; /* places in .debug_info */
    uint64_t abbrevs;         /* place in .debug_abbrev */
};

/* At *place; moves it to the next one. */
bool unit_header_read(struct bytes info, uint64_t *place, struct unit_header *out);

int form_bytes(uint64_t form, const struct unit_shape *shape);
/* Also of forms whose values vary in length. One that nobody knows fails. */
void form_skip(struct cursor *cursor, uint64_t form, const struct unit_shape *shape);
/* Of what is a number in the unit itself; false, and skipped: it is something else. */
bool form_number(struct cursor *cursor, uint64_t form, const struct unit_shape *shape,
                 uint64_t *out);

#endif

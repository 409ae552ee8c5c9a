/*
 * abbrevs.h - the shapes of one unit's DIEs: which attributes each kind has, in which form.
 *
 * Ownership  The user's struct: all zeros is empty, abbrevs_free ends it.
 * Errors     abbrevs_read: 0 or -ISOSCOPE_NO_MEMORY; a table that ends in nonsense, or is
 *            larger than any compiler's, is read up to there.
 */
#ifndef ISOSCOPE_ABBREVS_H
#define ISOSCOPE_ABBREVS_H

#include "unit_shape.h"

#include <stddef.h>

struct abbrev_attr {
    uint16_t name;    /* DW_AT_* */
    uint16_t form;    /* DW_FORM_* */
    int32_t bytes;    /* or FORM_BYTES_VARY */
    int64_t constant; /* of DW_FORM_implicit_const */
};

struct abbrev {
    uint16_t tag;           /* DW_TAG_*; 0: there is no such abbreviation */
    bool children, sibling; /* sibling: one attribute leads past the children */
    int32_t bytes;          /* of all attributes together, or FORM_BYTES_VARY */
    uint32_t first, count;  /* in attrs */
};

struct abbrevs {
    struct abbrev *abbrevs; /* by code */
    uint32_t count;
    struct abbrev_attr *attrs;
    uint32_t attr_count;
    uint32_t abbrev_capacity, attr_capacity;
};

int abbrevs_read(struct abbrevs *out, struct bytes section, uint64_t place,
                 const struct unit_shape *shape);
void abbrevs_free(struct abbrevs *abbrevs);
size_t abbrevs_bytes(const struct abbrevs *abbrevs);

/* Moves the cursor behind the DIE's attributes. Returns where in .debug_info its next sibling is;
 * 0: it does not say. */
uint64_t abbrevs_skip(const struct abbrevs *abbrevs, const struct abbrev *abbrev,
                      struct cursor *cursor, const struct unit_header *unit);

static inline const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code)
{
    return code < abbrevs->count && abbrevs->abbrevs[code].tag ? &abbrevs->abbrevs[code] : NULL;
}

static inline void attr_skip(struct cursor *cursor, const struct abbrev_attr *attr,
                             const struct unit_shape *shape)
{
    if (attr->bytes == FORM_BYTES_VARY)
        form_skip(cursor, attr->form, shape);
    else
        cursor_skip(cursor, (uint64_t)attr->bytes);
}

#endif

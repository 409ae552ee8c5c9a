#include "abbrevs.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "../../base/grow.h"

#include <dwarf.h>
#include <stdlib.h>

enum { CODES_MAX = 1 << 18, ATTRS_MAX = 1 << 20 };

void abbrevs_free(struct abbrevs *abbrevs)
{
    free(abbrevs->abbrevs);
    free(abbrevs->attrs);
    *abbrevs = (struct abbrevs){ 0 };
}

size_t abbrevs_bytes(const struct abbrevs *abbrevs)
{
    return abbrevs->abbrev_capacity * sizeof(*abbrevs->abbrevs) +
           abbrevs->attr_capacity * sizeof(*abbrevs->attrs);
}

static void add_bytes(struct abbrev *abbrev, struct abbrev_attr *attr,
                      const struct unit_shape *shape)
{
    attr->bytes = form_bytes(attr->form, shape);
    abbrev->sibling |= attr->name == DW_AT_sibling;
    if (attr->bytes == FORM_BYTES_VARY || abbrev->bytes == FORM_BYTES_VARY)
        abbrev->bytes = FORM_BYTES_VARY;
    else
        abbrev->bytes += attr->bytes;
}

/* The attributes up to the pair of zeros. */
static int read_attrs(struct abbrevs *abbrevs, struct abbrev *abbrev, struct cursor *cursor,
                      const struct unit_shape *shape)
{
    abbrev->first = abbrevs->attr_count;
    while (!cursor->failed) {
        uint64_t name = cursor_uleb(cursor), form = cursor_uleb(cursor);
        struct abbrev_attr *attr;

        if (!name && !form)
            break;
        if (abbrevs->attr_count == ATTRS_MAX) {
            cursor_fail(cursor);
            break;
        }
        if (!GROW(abbrevs->attrs, abbrevs->attr_count, abbrevs->attr_capacity))
            return -ISOSCOPE_NO_MEMORY;
        attr = &abbrevs->attrs[abbrevs->attr_count++];
        *attr = (struct abbrev_attr){ .name = name > UINT16_MAX ? 0 : (uint16_t)name,
                                      .form = form > UINT16_MAX ? 0 : (uint16_t)form };
        if (form == DW_FORM_implicit_const)
            attr->constant = cursor_sleb(cursor);
        add_bytes(abbrev, attr, shape);
    }
    abbrev->count = abbrevs->attr_count - abbrev->first;
    return 0;
}

static int put_abbrev(struct abbrevs *abbrevs, uint64_t code, const struct abbrev *abbrev)
{
    while (abbrevs->count <= code) {
        if (!GROW(abbrevs->abbrevs, abbrevs->count, abbrevs->abbrev_capacity))
            return -ISOSCOPE_NO_MEMORY;
        abbrevs->abbrevs[abbrevs->count++] = (struct abbrev){ 0 };
    }
    if (!abbrevs->abbrevs[code].tag)
        abbrevs->abbrevs[code] = *abbrev;
    return 0;
}

int abbrevs_read(struct abbrevs *out, struct bytes section, uint64_t place,
                 const struct unit_shape *shape)
{
    CLEANUP(abbrevs_free) struct abbrevs abbrevs = { 0 };
    struct cursor cursor = cursor_of(section, place);
    uint64_t code;

    while ((code = cursor_uleb(&cursor)) != 0 && code < CODES_MAX) {
        struct abbrev abbrev = { 0 };
        uint64_t tag = cursor_uleb(&cursor);

        abbrev.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
        abbrev.children = cursor_u8(&cursor) == DW_CHILDREN_yes;
        if (read_attrs(&abbrevs, &abbrev, &cursor, shape) < 0)
            return -ISOSCOPE_NO_MEMORY;
        if (cursor.failed)
            break;
        if (put_abbrev(&abbrevs, code, &abbrev) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    *out = abbrevs;
    abbrevs = (struct abbrevs){ 0 };
    return 0;
}

uint64_t abbrevs_skip(const struct abbrevs *abbrevs, const struct abbrev *abbrev,
                      struct cursor *cursor, const struct unit_header *unit)
{
    uint64_t sibling = 0;
    bool found = false;

    if (!abbrev->sibling && abbrev->bytes != FORM_BYTES_VARY) {
        cursor_skip(cursor, (uint64_t)abbrev->bytes);
        return 0;
    }
    for (uint32_t i = 0; i < abbrev->count; i++) {
        const struct abbrev_attr *attr = &abbrevs->attrs[abbrev->first + i];

        if (attr->name == DW_AT_sibling && attr->form != DW_FORM_ref_addr)
            found = form_number(cursor, attr->form, &unit->shape, &sibling);
        else
            attr_skip(cursor, attr, &unit->shape);
    }
    if (!found || cursor->failed || sibling > unit->end - unit->start)
        return 0;
    return unit->start + sibling;
}

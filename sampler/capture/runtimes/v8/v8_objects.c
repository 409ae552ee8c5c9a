#include "v8_objects.h"

#include <string.h>

enum {
    MAP_TYPE = 12,
    STRING_LENGTH = 12,
    STRING_DATA = 16,  /* of a flat one */
    STRING_FIRST = 16, /* of two; of one that stands for another; whose part it is */
    STRING_SECOND = 24,
    STRING_OFFSET = 24,
    STRING_OUTSIDE = 24, /* where an external one's characters are */
    SHAPE_MASK = 7,
    SHAPE_FLAT = 0,
    SHAPE_TWO = 1,
    SHAPE_EXTERNAL = 2,
    SHAPE_PART = 3,
    SHAPE_OTHER = 5,
    ONE_BYTE = 8,
    WITHOUT_ADDRESS = 16, /* external: its address is not kept */
    PIECES_MAX = 32,
    STEPS_MAX = 256
};

bool v8_type(const struct v8_walk *walk, uint64_t object, uint32_t *out)
{
    uint64_t map;
    uint16_t type;

    if (!v8_is_object(object) || !v8_field(walk, object, 0, &map) || !v8_is_object(map) ||
        !guarded_read(&walk->scan->memory, &type, map - V8_TAG + MAP_TYPE, sizeof type))
        return false;
    *out = type;
    return true;
}

bool v8_is(const struct v8_walk *walk, uint64_t object, enum v8_word type)
{
    return v8_is_between(walk, object, type, type);
}

bool v8_is_between(const struct v8_walk *walk, uint64_t object, enum v8_word first,
                   enum v8_word last)
{
    uint32_t type;

    return v8_type(walk, object, &type) && type >= walk->words[first] && type <= walk->words[last];
}

bool v8_is_string(const struct v8_walk *walk, uint64_t object)
{
    uint32_t type;

    return v8_type(walk, object, &type) && type < V8_TYPE_NOT_STRING;
}

bool v8_string_length(const struct v8_walk *walk, uint64_t string, uint32_t *out)
{
    int32_t length;

    if (!v8_is_string(walk, string) ||
        !guarded_read(&walk->scan->memory, &length, string - V8_TAG + STRING_LENGTH,
                      sizeof length) ||
        length < 0)
        return false;
    *out = (uint32_t)length;
    return true;
}

struct text {
    char *out;
    uint32_t room, bytes;
};

/* False: it is full. */
static SIGNAL_SAFE bool put_character(struct text *text, uint32_t character)
{
    char *out = text->out + text->bytes;
    uint32_t bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    if (bytes > text->room - text->bytes)
        return false;
    text->bytes += bytes;
    if (bytes == 1) {
        out[0] = (char)character;
        return true;
    }
    for (uint32_t i = bytes - 1; i; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)(0xf00u >> bytes | character);
    return true;
}

/* Units of one or two bytes. A half of a pair stands alone where it was cut: it is left out. */
static SIGNAL_SAFE bool put_units(struct text *text, const uint8_t *raw, uint32_t count, bool wide)
{
    for (uint32_t i = 0; i < count; i++) {
        uint16_t unit = raw[i], low;

        if (wide)
            memcpy(&unit, raw + 2 * i, 2);
        if (unit < 0xd800 || unit > 0xdfff) {
            if (!put_character(text, unit))
                return false;
            continue;
        }
        if (unit > 0xdbff || i + 1 == count)
            continue;
        memcpy(&low, raw + 2 * (i + 1), 2);
        if (low < 0xdc00 || low > 0xdfff)
            continue;
        if (!put_character(text, 0x10000 + ((unit & 0x3ffu) << 10) + (low & 0x3ffu)))
            return false;
        i++;
    }
    return true;
}

/* A part of a string. */
struct piece {
    uint64_t string;
    uint32_t from, count;
};

static SIGNAL_SAFE bool put_flat(const struct v8_walk *walk, struct text *text, uint64_t address,
                                 struct piece piece, bool wide)
{
    uint8_t *raw = walk->scan->texts->raw;
    uint32_t unit = wide ? 2 : 1, most = sizeof walk->scan->texts->raw / 2;

    if (piece.count > most)
        piece.count = most;
    return guarded_read(&walk->scan->memory, raw, address + (uint64_t)piece.from * unit,
                        (size_t)piece.count * unit) &&
           put_units(text, raw, piece.count, wide);
}

/* Pieces still to come, the next one last. */
struct pieces {
    struct piece list[PIECES_MAX];
    uint32_t count;
};

static SIGNAL_SAFE bool push(struct pieces *pieces, uint64_t string, uint32_t from, uint32_t count)
{
    if (pieces->count == PIECES_MAX)
        return false;
    if (count)
        pieces->list[pieces->count++] = (struct piece){ string, from, count };
    return true;
}

static SIGNAL_SAFE bool push_two(const struct v8_walk *walk, struct pieces *pieces,
                                 struct piece piece)
{
    uint64_t first, second;
    uint32_t length, in_first = 0;

    if (!v8_field(walk, piece.string, STRING_FIRST, &first) ||
        !v8_field(walk, piece.string, STRING_SECOND, &second) ||
        !v8_string_length(walk, first, &length))
        return false;
    if (piece.from < length)
        in_first = length - piece.from < piece.count ? length - piece.from : piece.count;
    return push(pieces, second, piece.from + in_first - length, piece.count - in_first) &&
           push(pieces, first, piece.from, in_first);
}

/* One step further in: characters, or the strings that this one is made of. */
static SIGNAL_SAFE bool open_piece(const struct v8_walk *walk, struct pieces *pieces,
                                   struct piece piece, struct text *text)
{
    uint32_t type, length;
    uint64_t inner;
    int32_t offset = 0;

    if (!v8_type(walk, piece.string, &type) || !v8_string_length(walk, piece.string, &length) ||
        piece.from > length || piece.count > length - piece.from)
        return false;
    if ((type & SHAPE_MASK) == SHAPE_FLAT)
        return put_flat(walk, text, piece.string - V8_TAG + STRING_DATA, piece, !(type & ONE_BYTE));
    if ((type & SHAPE_MASK) == SHAPE_TWO)
        return push_two(walk, pieces, piece);
    if ((type & SHAPE_MASK) == SHAPE_EXTERNAL)
        return !(type & WITHOUT_ADDRESS) && v8_field(walk, piece.string, STRING_OUTSIDE, &inner) &&
               put_flat(walk, text, inner, piece, !(type & ONE_BYTE));
    if ((type & SHAPE_MASK) == SHAPE_PART &&
        (!v8_number(walk, piece.string, STRING_OFFSET, &offset) || offset < 0))
        return false;
    return ((type & SHAPE_MASK) == SHAPE_PART || (type & SHAPE_MASK) == SHAPE_OTHER) &&
           v8_field(walk, piece.string, STRING_FIRST, &inner) &&
           push(pieces, inner, piece.from + (uint32_t)offset, piece.count);
}

bool v8_text(const struct v8_walk *walk, uint64_t string, char *out, uint32_t room, uint32_t *bytes)
{
    struct text text = { .out = out, .room = room };
    struct pieces pieces;
    uint32_t length;

    pieces.count = 0;
    if (!v8_string_length(walk, string, &length))
        return false;
    push(&pieces, string, 0, length < room ? length : room);
    for (uint32_t step = 0; pieces.count && text.bytes < room; step++) {
        uint32_t before = text.bytes;

        if (step == STEPS_MAX)
            return false;
        if (!open_piece(walk, &pieces, pieces.list[--pieces.count], &text) && text.bytes == before)
            return false;
    }
    *bytes = text.bytes;
    return true;
}

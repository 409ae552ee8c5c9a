#include "utf8.h"

#include <string.h>

/* A character's first byte says how many follow, and narrows the second: no character longer than
 * needed, no surrogate, none above U+10FFFF. */
static bool begin_character(struct utf8 *state, uint8_t byte)
{
    if (byte < 0x80)
        return true;
    if (byte < 0xc2 || byte > 0xf4)
        return false;
    state->missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    state->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    state->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    return true;
}

/* Most text is ASCII. */
static size_t ascii(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    uint64_t word;

    for (; at + sizeof(word) <= size; at += sizeof(word)) {
        memcpy(&word, bytes + at, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return at;
}

bool utf8_take(struct utf8 *state, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        if (state->missing) {
            if (bytes[at] < state->low || bytes[at] > state->high)
                return false;
            state->missing--;
            state->low = 0x80;
            state->high = 0xbf;
            continue;
        }
        at += ascii(bytes + at, size - at);
        if (at < size && !begin_character(state, bytes[at]))
            return false;
    }
    return true;
}

bool utf8_whole(const struct utf8 *state)
{
    return !state->missing;
}

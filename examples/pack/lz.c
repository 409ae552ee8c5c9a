#include "lz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORTEST = 4,
    LONGEST = SHORTEST + 127,
    LITERALS_MAX = 128,
    DISTANCE_MAX = 65535,
    HASH_BITS = 15,
    NOWHERE = -1,
};

/* Places by the hash of the four bytes there: the newest, and of each the one before. */
struct places {
    int32_t newest[1 << HASH_BITS];
    int32_t before[DISTANCE_MAX + 1];
};

struct match {
    size_t length, distance;
};

size_t lz_bound(size_t size)
{
    return size + size / LITERALS_MAX + 1;
}

static inline uint32_t hash_at(const char *text)
{
    uint32_t four;

    memcpy(&four, text, sizeof(four));
    return (four * 2654435761u) >> (32 - HASH_BITS);
}

static inline void remember(struct places *places, const char *text, size_t at)
{
    int32_t *newest = &places->newest[hash_at(text + at)];

    places->before[at & DISTANCE_MAX] = *newest;
    *newest = (int32_t)at;
}

static inline size_t match_length(const char *left, const char *right, size_t most)
{
    size_t length = 0;

    while (length < most && left[length] == right[length])
        length++;
    return length;
}

static struct match longest_match(const struct places *places, const char *text, size_t size,
                                  size_t at, unsigned effort)
{
    struct match best = { 0, 0 };
    size_t most = size - at < LONGEST ? size - at : LONGEST;
    int32_t place = places->newest[hash_at(text + at)];

    while (place != NOWHERE && at - (size_t)place <= DISTANCE_MAX && effort-- > 0) {
        size_t length = match_length(text + place, text + at, most);

        if (length > best.length)
            best = (struct match){ length, at - (size_t)place };
        place = places->before[place & DISTANCE_MAX];
    }
    return best;
}

static char *put_literals(char *out, const char *from, const char *to)
{
    while (from < to) {
        size_t count = to - from < LITERALS_MAX ? (size_t)(to - from) : LITERALS_MAX;

        *out++ = (char)(count - 1);
        memcpy(out, from, count);
        out += count;
        from += count;
    }
    return out;
}

static char *put_match(char *out, struct match match)
{
    *out++ = (char)(128 + match.length - SHORTEST);
    *out++ = (char)(match.distance & 255);
    *out++ = (char)(match.distance >> 8);
    return out;
}

static struct places *no_places(void)
{
    struct places *places = malloc(sizeof(*places));

    if (!places)
        abort();
    for (size_t i = 0; i < sizeof(places->newest) / sizeof(places->newest[0]); i++)
        places->newest[i] = NOWHERE;
    return places;
}

size_t lz_pack(char *packed, const char *text, size_t size, unsigned effort)
{
    struct places *places = no_places();
    size_t at = 0, said = 0; /* up to where packed tells of the text */
    char *out = packed;

    while (at + SHORTEST <= size) {
        struct match match = longest_match(places, text, size, at, effort);
        size_t step = match.length >= SHORTEST ? match.length : 1;

        if (step > 1) {
            out = put_match(put_literals(out, text + said, text + at), match);
            said = at + step;
        }
        for (size_t end = at + step; at < end; at++)
            if (at + SHORTEST <= size)
                remember(places, text, at);
    }
    free(places);
    return (size_t)(put_literals(out, text + said, text + size) - packed);
}

/* One byte after the other: what is repeated may reach into itself. */
static char *copy_match(char *out, struct match match)
{
    for (size_t i = 0; i < match.length; i++, out++)
        *out = out[-(ptrdiff_t)match.distance];
    return out;
}

size_t lz_unpack(char *text, const char *packed, size_t packed_size)
{
    const unsigned char *at = (const unsigned char *)packed, *end = at + packed_size;
    char *out = text;

    while (at < end) {
        size_t kind = *at++;

        if (kind < 128) {
            memcpy(out, at, kind + 1);
            out += kind + 1;
            at += kind + 1;
        } else {
            out = copy_match(out, (struct match){ kind - 128 + SHORTEST, at[0] | at[1] << 8 });
            at += 2;
        }
    }
    return (size_t)(out - text);
}

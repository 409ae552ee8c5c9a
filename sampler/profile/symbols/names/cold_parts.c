#include "cold_parts.h"

#include "../../../include/isoscope/isoscope.h"
#include "ranges.h"
#include "suffix.h"

#include <stdlib.h>
#include <string.h>

enum {
    NONE = UINT32_MAX,
    ROUNDS_MAX = 4,                    /* "foo.part.0.constprop.1.cold" needs three */
    COMPARISONS_MAX = 4 * 1024 * 1024, /* a file may have a million parts of one name */
};

struct part {
    uint32_t symbol;
    uint32_t name_bytes; /* of the name to look for: the part's own without suffixes */
    uint32_t next;       /* with the same hash; NONE: the last */
    uint32_t found;      /* the best function so far; NONE */
    bool several;        /* others are as good */
};

struct parts {
    struct part *parts;
    uint32_t count, capacity;
    uint32_t *buckets;
    uint32_t mask;
    uint32_t comparisons_left;
};

static const char *name_of(const struct ranges *ranges, uint32_t symbol)
{
    return ranges->texts + ranges->symbols[symbol].name;
}

/* Of symbols that are not sorted yet, whose names stand one after the other. */
static size_t name_bytes_of(const struct ranges *ranges, uint32_t symbol)
{
    size_t end = ranges->texts_bytes;

    if (symbol + 1 < ranges->symbol_count)
        end = ranges->symbols[symbol + 1].name;
    return end - 1 - ranges->symbols[symbol].name;
}

/* By eight bytes at a time, the last ones perhaps twice: all names of a module go through it. */
static uint32_t hash_name(const char *name, size_t bytes)
{
    uint64_t hash = bytes, word = 0;

    for (size_t at = 0; at + sizeof(word) < bytes; at += sizeof(word)) {
        memcpy(&word, name + at, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    if (bytes >= sizeof(word))
        memcpy(&word, name + bytes - sizeof(word), sizeof(word));
    else
        memcpy(&word, name, bytes);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static int add_part(struct parts *parts, struct part part)
{
    if (parts->count == parts->capacity) {
        uint32_t capacity = parts->capacity ? parts->capacity * 2 : 64;
        struct part *larger = reallocarray(parts->parts, capacity, sizeof(*larger));

        if (!larger)
            return -ISOSCOPE_NO_MEMORY;
        parts->parts = larger;
        parts->capacity = capacity;
    }
    parts->parts[parts->count++] = part;
    return 0;
}

static int collect(struct parts *parts, const struct ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->symbol_count; i++) {
        struct suffix suffix;
        struct part part = { .symbol = i, .found = NONE };

        if (!suffix_last(name_of(ranges, i), name_bytes_of(ranges, i), &suffix) || !suffix.cold)
            continue;
        part.name_bytes = (uint32_t)suffix.at;
        if (add_part(parts, part) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

/* By the names that are looked for now. */
static void fill_buckets(struct parts *parts, const struct ranges *ranges)
{
    memset(parts->buckets, 0xff, (parts->mask + 1) * sizeof(*parts->buckets));
    for (uint32_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->parts[i];
        uint32_t hash = hash_name(name_of(ranges, part->symbol), part->name_bytes);

        if (part->found != NONE)
            continue;
        part->next = parts->buckets[hash & parts->mask];
        parts->buckets[hash & parts->mask] = i;
    }
}

/* 2: of the part's own file. 1: of no file, seen by all. 0: of another file. */
static int fitness(const struct ranges *ranges, const struct part *part, uint32_t symbol)
{
    uint32_t file = ranges->symbols[symbol].file;

    return file == ranges->symbols[part->symbol].file ? 2 : file == 0 ? 1 : 0;
}

static void offer(const struct ranges *ranges, struct part *part, uint32_t symbol)
{
    int better;

    if (part->found == NONE) {
        part->found = symbol;
        return;
    }
    if (ranges->symbols[part->found].start == ranges->symbols[symbol].start)
        return;
    better = fitness(ranges, part, symbol) - fitness(ranges, part, part->found);
    if (better > 0)
        part->found = symbol;
    part->several = better == 0 || (part->several && better < 0);
}

static void offer_all(struct parts *parts, const struct ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->symbol_count && parts->comparisons_left; i++) {
        const char *name = name_of(ranges, i);
        size_t bytes = name_bytes_of(ranges, i);
        uint32_t at = parts->buckets[hash_name(name, bytes) & parts->mask];

        for (; at != NONE && parts->comparisons_left; at = parts->parts[at].next) {
            parts->comparisons_left--;
            if (parts->parts[at].name_bytes == bytes &&
                !memcmp(name_of(ranges, parts->parts[at].symbol), name, bytes))
                offer(ranges, &parts->parts[at], i);
        }
    }
}

/* Returns whether a part is left that may be called after a function without more suffixes:
 * foo.part.0 may have gone into its callers and left only foo.part.0.cold behind. */
static bool drop_a_suffix(struct parts *parts, const struct ranges *ranges)
{
    bool any = false;

    for (uint32_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->parts[i];
        struct suffix suffix;

        if (part->found != NONE ||
            !suffix_last(name_of(ranges, part->symbol), part->name_bytes, &suffix))
            continue;
        part->name_bytes = (uint32_t)suffix.at;
        any = true;
    }
    return any;
}

static int make_buckets(struct parts *parts)
{
    parts->mask = 63;
    while (parts->mask < parts->count)
        parts->mask = parts->mask * 2 + 1;
    parts->buckets = calloc((size_t)parts->mask + 1, sizeof(*parts->buckets));
    parts->comparisons_left = COMPARISONS_MAX;
    return parts->buckets ? 0 : -ISOSCOPE_NO_MEMORY;
}

static void find_all(struct parts *parts, struct ranges *ranges)
{
    int rounds = 0;

    do {
        fill_buckets(parts, ranges);
        offer_all(parts, ranges);
    } while (++rounds < ROUNDS_MAX && drop_a_suffix(parts, ranges));
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->parts[i];

        if (part->found != NONE && !part->several)
            ranges->symbols[part->symbol].home = part->found;
    }
}

int cold_parts_find_home(struct ranges *ranges)
{
    struct parts parts = { 0 };
    int error = collect(&parts, ranges);

    if (!error && parts.count)
        error = make_buckets(&parts);
    if (parts.buckets)
        find_all(&parts, ranges);
    free(parts.parts);
    free(parts.buckets);
    return error;
}

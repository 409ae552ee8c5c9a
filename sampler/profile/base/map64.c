#include "map64.h"

#include "index16.h"

#include <assert.h>
#include <stdlib.h>

/* More than is needed to be done before the table has to grow again. */
enum { CAPACITY_MIN = 256, MOVED_AT_ONCE = 8 };

static struct map64_entry *place_of(struct map64_entry *entries, uint32_t capacity, uint64_t key)
{
    uint32_t place = (uint32_t)index16_mix(key) & (capacity - 1);

    while (entries[place].used && entries[place].key != key)
        place = (place + 1) & (capacity - 1);
    return &entries[place];
}

static bool grow_map(struct map64 *map)
{
    uint32_t capacity = map->capacity ? map->capacity * 2 : CAPACITY_MIN;
    struct map64_entry *entries = calloc(capacity, sizeof(*entries));

    if (!entries)
        return false;
    assert(!map->old);
    map->old = map->entries;
    map->old_capacity = map->capacity;
    map->moved = 0;
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

static void move_some(struct map64 *map)
{
    for (int i = 0; i < MOVED_AT_ONCE && map->old; i++) {
        const struct map64_entry *from = &map->old[map->moved++];
        struct map64_entry *to =
            from->used ? place_of(map->entries, map->capacity, from->key) : NULL;

        if (to && !to->used)
            *to = *from;
        if (map->moved < map->old_capacity)
            continue;
        free(map->old);
        map->old = NULL;
    }
}

/* Among those that were there before the table grew; NULL: it is not there. */
static const struct map64_entry *find_old(const struct map64 *map, uint64_t key)
{
    const struct map64_entry *entry = map->old ? place_of(map->old, map->old_capacity, key) : NULL;

    return entry && entry->used ? entry : NULL;
}

uint32_t *map64_put(struct map64 *map, uint64_t key, bool *added)
{
    const struct map64_entry *old;
    struct map64_entry *entry;

    if ((uint64_t)map->count * 2 >= map->capacity && !grow_map(map))
        return NULL;
    move_some(map);
    entry = place_of(map->entries, map->capacity, key);
    old = entry->used ? entry : find_old(map, key);
    *added = !old;
    if (*added) {
        *entry = (struct map64_entry){ .key = key, .used = true };
        map->count++;
    } else if (old != entry) {
        *entry = *old;
    }
    return &entry->value;
}

uint32_t map64_find(const struct map64 *map, uint64_t key)
{
    const struct map64_entry *entry =
        map->capacity ? place_of(map->entries, map->capacity, key) : NULL;

    if (entry && !entry->used)
        entry = find_old(map, key);
    return entry ? entry->value : 0;
}

void map64_free(struct map64 *map)
{
    free(map->entries);
    free(map->old);
    *map = (struct map64){ 0 };
}

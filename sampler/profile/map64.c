#include "map64.h"

#include "index16.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 256 };

static struct map64_entry *place_of(const struct map64 *map, uint64_t key)
{
    uint32_t place = (uint32_t)index16_mix(key) & (map->capacity - 1);

    while (map->entries[place].used && map->entries[place].key != key)
        place = (place + 1) & (map->capacity - 1);
    return &map->entries[place];
}

static bool grow(struct map64 *map)
{
    struct map64 larger = { .capacity = map->capacity ? map->capacity * 2 : CAPACITY_MIN,
                            .count = map->count };

    larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
    if (!larger.entries)
        return false;
    for (uint32_t i = 0; i < map->capacity; i++)
        if (map->entries[i].used)
            *place_of(&larger, map->entries[i].key) = map->entries[i];
    free(map->entries);
    *map = larger;
    return true;
}

uint32_t *map64_put(struct map64 *map, uint64_t key, bool *added)
{
    struct map64_entry *entry;

    if ((uint64_t)map->count * 2 >= map->capacity && !grow(map))
        return NULL;
    entry = place_of(map, key);
    *added = !entry->used;
    if (*added) {
        *entry = (struct map64_entry){ .key = key, .used = true };
        map->count++;
    }
    return &entry->value;
}

uint32_t map64_find(const struct map64 *map, uint64_t key)
{
    const struct map64_entry *entry = map->capacity ? place_of(map, key) : NULL;

    return entry && entry->used ? entry->value : 0;
}

void map64_free(struct map64 *map)
{
    free(map->entries);
    *map = (struct map64){ 0 };
}

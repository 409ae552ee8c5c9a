#include "code_map.h"

#include "../system/pages.h"

const struct code_map *code_map_enter(struct code_maps *maps, uint32_t *group)
{
    *group = atomic_load_explicit(&maps->epoch, memory_order_relaxed) & 1;
    /* Counted in before the map is loaded, in one total order with the reclaimer: it either
     * sees the count, or has already published the newer map that is loaded here. */
    atomic_fetch_add_explicit(&maps->readers[*group], 1, memory_order_seq_cst);
    return atomic_load_explicit(&maps->current, memory_order_seq_cst);
}

void code_map_leave(struct code_maps *maps, uint32_t group)
{
    atomic_fetch_sub_explicit(&maps->readers[group], 1, memory_order_release);
}

const struct code_range *code_map_find(const struct code_map *map, uint64_t pc)
{
    uint32_t low = 0, high = map->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (map->ranges[middle].end <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && map->ranges[low].start <= pc ? &map->ranges[low] : NULL;
}

struct code_map *code_map_new(uint32_t capacity)
{
    size_t bytes = sizeof(struct code_map) + capacity * sizeof(struct code_range);
    struct code_map *map = pages_new(bytes);

    if (map)
        map->bytes = bytes;
    return map;
}

void code_map_free(struct code_map *map)
{
    if (map)
        pages_free(map, map->bytes);
}

void code_map_publish(struct code_maps *maps, struct code_map *map)
{
    struct code_map *old = atomic_exchange_explicit(&maps->current, map, memory_order_seq_cst);

    if (!old)
        return;
    old->drained = 0;
    old->retired_next = maps->retired;
    maps->retired = old;
}

/* A handler that holds a retired map is counted in one group from before it was retired until it
 * leaves. So a map is free once each group was seen empty, not at the same moment. */
bool code_map_reclaim(struct code_maps *maps)
{
    struct code_map **link = &maps->retired;
    uint8_t empty = 0;

    if (!maps->retired)
        return true;
    for (uint32_t group = 0; group < 2; group++)
        if (!atomic_load_explicit(&maps->readers[group], memory_order_seq_cst))
            empty |= (uint8_t)(1u << group);
    while (*link) {
        struct code_map *map = *link;

        map->drained |= empty;
        if (map->drained == 3) {
            *link = map->retired_next;
            code_map_free(map);
        } else {
            link = &map->retired_next;
        }
    }
    /* New handlers go to the other group, so this one empties even on a busy machine. */
    atomic_fetch_add_explicit(&maps->epoch, 1, memory_order_relaxed);
    return !maps->retired;
}

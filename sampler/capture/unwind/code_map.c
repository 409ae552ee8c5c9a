#include "code_map.h"

#include "../system/pages.h"

#include <stdlib.h>

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

uint8_t code_maps_empty_groups(struct code_maps *maps)
{
    uint8_t empty = 0;

    for (uint32_t group = 0; group < 2; group++)
        if (!atomic_load_explicit(&maps->readers[group], memory_order_seq_cst))
            empty |= (uint8_t)(1u << group);
    atomic_fetch_add_explicit(&maps->epoch, 1, memory_order_relaxed);
    return empty;
}

void retire(struct retired **list, struct retired *item)
{
    item->drained = 0;
    item->next = *list;
    *list = item;
}

/* A handler that holds a retired item is counted in one group from before it was retired until it
 * leaves. So the item is free once each group was seen empty, not at the same moment. */
struct retired *take_drained(struct code_maps *maps, struct retired **list)
{
    struct retired *taken = NULL;
    uint8_t empty = *list ? code_maps_empty_groups(maps) : 0;

    while (*list) {
        struct retired *item = *list;

        item->drained |= empty;
        if (item->drained == 3) {
            *list = item->next;
            item->next = taken;
            taken = item;
        } else {
            list = &item->next;
        }
    }
    return taken;
}

void free_retired(struct retired *list)
{
    while (list) {
        struct retired *next = list->next;

        free(list);
        list = next;
    }
}

void code_map_publish(struct code_maps *maps, struct code_map *map)
{
    struct code_map *old = atomic_exchange_explicit(&maps->current, map, memory_order_seq_cst);

    if (old)
        retire(&maps->retired, &old->retired);
}

static SIGNAL_SAFE void free_maps(struct retired *list)
{
    while (list) {
        struct retired *next = list->next;

        code_map_free((struct code_map *)list);
        list = next;
    }
}

bool code_map_reclaim(struct code_maps *maps)
{
    free_maps(take_drained(maps, &maps->retired));
    return !maps->retired;
}

void code_maps_free(struct code_maps *maps)
{
    free_maps(maps->retired);
    maps->retired = NULL;
    code_map_free(atomic_exchange(&maps->current, NULL));
}

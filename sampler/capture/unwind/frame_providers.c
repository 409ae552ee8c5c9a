#include "frame_providers.h"

#include <stdlib.h>
#include <string.h>

/* The first range that ends behind the address. */
SIGNAL_SAFE_INLINE uint32_t range_index(const struct provider_list *list, uint64_t address)
{
    uint32_t low = 0, high = list->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (list->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct provider_range *frame_providers_find(const struct provider_list *list, uint64_t pc)
{
    uint32_t index = range_index(list, pc);

    return index < list->count && list->ranges[index].start <= pc ? &list->ranges[index] : NULL;
}

static struct provider_list *list_new(uint32_t count)
{
    struct provider_list *list = calloc(1, sizeof *list + count * sizeof(struct provider_range));

    if (list)
        list->count = count;
    return list;
}

static void publish(struct frame_providers *providers, struct code_maps *maps,
                    struct provider_list *list)
{
    struct provider_list *old =
        atomic_exchange_explicit(&providers->list, list, memory_order_seq_cst);

    if (old)
        retire(&providers->retired, &old->retired);
    free_retired(take_drained(maps, &providers->retired));
}

/* The provider's number, or the first that is free; FRAME_PROVIDERS_MAX: none is. */
static uint32_t number_for(const struct provider_list *list, const struct provider_range *range)
{
    uint32_t used = 0, number = 0;

    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct provider_range *other = &list->ranges[i];

        if (other->call == range->call && other->code == range->code &&
            other->context == range->context)
            return other->number;
        used |= 1u << other->number;
    }
    while (used >> number & 1)
        number++;
    return number;
}

int frame_providers_add(struct frame_providers *providers, struct code_maps *maps,
                        const struct provider_range *range)
{
    const struct provider_list *old = frame_providers_list(providers);
    uint32_t count = old ? old->count : 0, at = old ? range_index(old, range->start) : 0;
    uint32_t number = number_for(old, range);
    struct provider_list *list;

    if (at < count && old->ranges[at].start < range->end)
        return -ISOSCOPE_OVERLAP;
    if (number == FRAME_PROVIDERS_MAX)
        return -ISOSCOPE_LIMIT;
    list = list_new(count + 1);
    if (!list)
        return -ISOSCOPE_NO_MEMORY;
    if (old) {
        memcpy(list->ranges, old->ranges, at * sizeof *range);
        memcpy(list->ranges + at + 1, old->ranges + at, (count - at) * sizeof *range);
    }
    list->ranges[at] = *range;
    list->ranges[at].number = number;
    publish(providers, maps, list);
    return 0;
}

int frame_providers_remove(struct frame_providers *providers, struct code_maps *maps,
                           uint64_t start)
{
    const struct provider_list *old = frame_providers_list(providers);
    uint32_t at = old ? range_index(old, start) : 0;
    struct provider_list *list = NULL;

    if (!old || at == old->count || old->ranges[at].start != start)
        return -ISOSCOPE_NOT_FOUND;
    if (old->count > 1) {
        list = list_new(old->count - 1);
        if (!list)
            return -ISOSCOPE_NO_MEMORY;
        memcpy(list->ranges, old->ranges, at * sizeof list->ranges[0]);
        memcpy(list->ranges + at, old->ranges + at + 1,
               (old->count - 1 - at) * sizeof list->ranges[0]);
    }
    publish(providers, maps, list);
    return 0;
}

void frame_providers_free(struct frame_providers *providers)
{
    free_retired(providers->retired);
    providers->retired = NULL;
    free(atomic_exchange(&providers->list, NULL));
}

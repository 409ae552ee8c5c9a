#include "module_places.h"

#include <stdlib.h>

struct module_place {
    struct interval_range range; /* first: interval_map reads it */
    uint64_t bias;
    uint32_t number; /* in the feed */
};

void module_places_free(struct module_places *places)
{
    interval_map_free(&places->map);
    free(places->places);
    *places = (struct module_places){ 0 };
}

static uint32_t list_modules(struct module_place *list, struct feed_reader *reader,
                             uint32_t modules)
{
    struct feed_module_view view;
    uint32_t count = 0;

    for (uint32_t number = 1; number < modules; number++)
        if (feed_reader_module(reader, number, &view) && view.start < view.end)
            list[count++] = (struct module_place){ { view.start, view.end }, view.bias, number };
    return count;
}

/* Without memory it stays as it was: what came since is not found yet. */
static void build_places(struct module_places *places, struct feed_reader *reader, uint32_t modules)
{
    struct module_place *list = calloc(modules, sizeof(*list));
    uint32_t count = list ? list_modules(list, reader, modules) : 0;

    if (!list || interval_map_build(&places->map, list, count, sizeof(*list)) < 0) {
        free(list);
        return;
    }
    free(places->places);
    places->places = list;
    places->count = count;
    places->modules = modules;
}

static void follow_feed(struct module_places *places, struct feed_reader *reader)
{
    uint32_t modules = feed_reader_modules(reader);

    if (modules > places->modules)
        build_places(places, reader, modules);
}

uint64_t module_places_find_in(struct module_places *places, struct feed_reader *reader,
                               uint64_t address, uint64_t start, uint64_t end)
{
    const struct module_place *newest = NULL;

    follow_feed(places, reader);
    for (uint32_t i = 0; i < places->count; i++) {
        const struct module_place *place = &places->places[i];

        if (place->range.start >= start && place->range.start < end &&
            (!newest || place->number > newest->number))
            newest = place;
    }
    return newest ? FEED_FRAME(newest->number, address - newest->bias) : address;
}

uint64_t module_places_find(struct module_places *places, struct feed_reader *reader, uint64_t pc)
{
    uint32_t found;

    follow_feed(places, reader);
    if (!interval_map_find(&places->map, pc, &found))
        return pc;
    return FEED_FRAME(places->places[found].number, pc - places->places[found].bias);
}

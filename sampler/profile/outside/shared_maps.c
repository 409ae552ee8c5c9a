#include "shared_maps.h"

#include "../../capture/system/maps.h"
#include "../base/grow.h"

#include <stdlib.h>

static void keep(struct shared_maps *maps, const struct maps_line *line)
{
    if (!line->shared || !line->inode || !GROW(maps->list, maps->count, maps->capacity))
        return;
    maps->list[maps->count++] = (struct shared_map){
        line->start, line->end, { line->dev_major, line->dev_minor, line->inode, line->offset }
    };
}

void shared_maps_read(struct shared_maps *maps, int32_t pid)
{
    struct maps_reader *reader = malloc(sizeof(*reader));
    struct maps_line line;

    maps->count = 0;
    if (reader && maps_open(reader, pid) == 0) {
        while (maps_next(reader, &line))
            keep(maps, &line);
        maps_close(reader);
    }
    free(reader);
}

bool shared_maps_find(const struct shared_maps *maps, uint64_t address, struct shared_place *out)
{
    for (uint32_t i = 0; i < maps->count; i++) {
        const struct shared_map *map = &maps->list[i];

        if (map->start <= address && address < map->end) {
            *out = map->place;
            out->offset += address - map->start;
            return true;
        }
    }
    return false;
}

void shared_maps_free(struct shared_maps *maps)
{
    free(maps->list);
    *maps = (struct shared_maps){ 0 };
}

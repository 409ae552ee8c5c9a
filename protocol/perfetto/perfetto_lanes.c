#include "perfetto_lanes.h"

#include <stdlib.h>
#include <string.h>

/* The track's; NULL: out of memory. */
static struct perfetto_lane *lanes_of(struct perfetto_lanes *lanes, uint64_t track)
{
    bool is_new;
    uint32_t number = numbering_of(&lanes->tracks, track, 0, &is_new);

    if (!lanes->tracks.failed && number >= lanes->capacity) {
        uint32_t capacity = lanes->capacity ? 2 * lanes->capacity : 16;
        void *more = reallocarray(lanes->lanes, capacity, sizeof(*lanes->lanes));

        if (more) {
            lanes->lanes = more;
            memset(lanes->lanes + lanes->capacity, 0,
                   (capacity - lanes->capacity) * sizeof(*lanes->lanes));
            lanes->capacity = capacity;
        }
    }
    lanes->failed |= lanes->tracks.failed || number >= lanes->capacity;
    return lanes->failed ? NULL : lanes->lanes[number];
}

/* What has ended without being told so is no longer around. */
static bool fits(struct perfetto_lane *lane, int64_t start_ns, int64_t end_ns)
{
    while (lane->count && lane->open[lane->count - 1].end_ns <= start_ns)
        lane->count--;
    return !lane->count || lane->open[lane->count - 1].end_ns >= end_ns;
}

static bool push(struct perfetto_lane *lane, int64_t start_ns, int64_t end_ns)
{
    if (lane->count == lane->capacity) {
        uint32_t capacity = lane->capacity ? 2 * lane->capacity : 8;
        struct perfetto_open *open = reallocarray(lane->open, capacity, sizeof(*open));

        if (!open)
            return false;
        lane->open = open;
        lane->capacity = capacity;
    }
    lane->open[lane->count++] = (struct perfetto_open){ start_ns, end_ns };
    return true;
}

uint32_t perfetto_lane_begin(struct perfetto_lanes *lanes, uint64_t track, int64_t start_ns,
                             int64_t end_ns)
{
    struct perfetto_lane *items = lanes_of(lanes, track);
    uint32_t lane = 0;

    if (!items)
        return 0;
    while (lane + 1 < PERFETTO_LANES_MAX && !fits(&items[lane], start_ns, end_ns))
        lane++;
    lanes->failed |= !push(&items[lane], start_ns, end_ns);
    return lane;
}

uint32_t perfetto_lane_end(struct perfetto_lanes *lanes, uint64_t track, int64_t start_ns,
                           int64_t end_ns)
{
    struct perfetto_lane *items = lanes_of(lanes, track);

    for (uint32_t lane = 0; items && lane < PERFETTO_LANES_MAX; lane++)
        for (uint32_t i = items[lane].count; i-- > 0;) {
            struct perfetto_open *open = &items[lane].open[i];

            if (open->start_ns != start_ns || open->end_ns != end_ns)
                continue;
            items[lane].count = i;
            return lane;
        }
    return 0;
}

void perfetto_lanes_free(struct perfetto_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->capacity; i++)
        for (uint32_t lane = 0; lane < PERFETTO_LANES_MAX; lane++)
            free(lanes->lanes[i][lane].open);
    free(lanes->lanes);
    numbering_free(&lanes->tracks);
}

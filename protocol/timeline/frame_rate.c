#include "frame_rate.h"

#include "timeline_words.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND_NS = 1000000000 };

const char *const frame_level_words[FRAME_LEVELS] = { "Best", "Normal", "Middle", "High",
                                                      "Frozen" };

enum frame_level frame_level_of(uint64_t dropped)
{
    static const uint64_t from[FRAME_LEVELS] = { 0, 3, 9, 24, 42 };
    enum frame_level level = FRAME_BEST;

    while (level + 1 < FRAME_LEVELS && dropped >= from[level + 1])
        level++;
    return level;
}

/* False: it has no such number. */
static bool part(const struct timeline_event *frame, const char *name, uint64_t *out)
{
    for (uint32_t i = 0; i < frame->argument_count; i++) {
        double number = timeline_number(&frame->arguments[i]);

        if (strcmp(frame->arguments[i].name, name) != 0)
            continue;
        *out = number > 0 && number < (double)INT64_MAX ? (uint64_t)number : 0;
        return true;
    }
    return false;
}

/* What says nothing of its parts is all build. */
struct frame_parts frame_parts_of(const struct timeline_event *frame)
{
    struct frame_parts parts = { .elapsed = frame->duration_ns / 1000 };
    bool has_build = part(frame, "build", &parts.build);
    bool has_raster = part(frame, "raster", &parts.raster);

    if (!has_build && !has_raster)
        parts.build = parts.elapsed;
    part(frame, "vsyncOverhead", &parts.vsync_overhead);
    return parts;
}

/* NULL: out of memory. */
static struct frame_series *series_of(struct frame_rates *rates, const struct timeline_event *frame)
{
    bool is_new;
    uint32_t number =
        numbering_of(&rates->names, frame->process_id, (uint64_t)(uintptr_t)frame->name, &is_new);

    if (rates->names.failed)
        return NULL;
    if (number >= rates->capacity) {
        uint32_t capacity = rates->capacity ? 2 * rates->capacity : 8;
        struct frame_series *series = reallocarray(rates->series, capacity, sizeof(*series));

        if (!series)
            return NULL;
        memset(series + rates->capacity, 0, (capacity - rates->capacity) * sizeof(*series));
        rates->series = series;
        rates->capacity = capacity;
    }
    return &rates->series[number];
}

/* What is older than a second goes; the rest moves to the front when there is no room behind it. */
static bool make_room(struct frame_series *series)
{
    int64_t *ends;

    if (series->count < series->capacity)
        return true;
    if (series->first > series->capacity / 2) {
        series->count -= series->first;
        memmove(series->ends_ns, series->ends_ns + series->first,
                series->count * sizeof(*series->ends_ns));
        series->first = 0;
        return true;
    }
    ends = reallocarray(series->ends_ns, series->capacity + 256, 2 * sizeof(*ends));
    if (!ends)
        return false;
    series->ends_ns = ends;
    series->capacity = 2 * (series->capacity + 256);
    return true;
}

uint32_t frame_rate_add(struct frame_rates *rates, const struct timeline_event *frame)
{
    struct frame_series *series = series_of(rates, frame);
    int64_t end_ns = frame->start_ns + (int64_t)frame->duration_ns;

    if (!series || !make_room(series)) {
        rates->failed = true;
        return 0;
    }
    series->ends_ns[series->count++] = end_ns;
    while (series->ends_ns[series->first] <= end_ns - SECOND_NS)
        series->first++;
    return series->count - series->first;
}

void frame_rates_free(struct frame_rates *rates)
{
    for (uint32_t i = 0; i < rates->capacity; i++)
        free(rates->series[i].ends_ns);
    free(rates->series);
    numbering_free(&rates->names);
}

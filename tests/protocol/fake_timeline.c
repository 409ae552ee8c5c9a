/* timeline.h over the scripted profile: its events are the test's, or the script's here. */
#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

struct timeline {
    struct timeline_event *events;
    uint32_t count;
    struct timeline_cursor next;
    bool reset, more;
};

#define MS(ms) ((int64_t)(ms)*1000000)

/* Of the thread "worker": a slice with another in it, one that crosses it, one of no length, and
 * everything else that there is. */
static const struct timeline_event script[] = {
    { .kind = TIMELINE_SLICE,
      .start_ns = MS(2001),
      .duration_ns = 1500,
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "parse",
      .stream = "Dart",
      .depth = 1,
      .argument_count = 1,
      .arguments = { { .name = "file", .type = FEED_ARGUMENT_TEXT, .text = "a\"b\xff" } } },
    { .kind = TIMELINE_SLICE,
      .start_ns = MS(2000),
      .duration_ns = MS(10),
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "load",
      .stream = "Dart",
      .argument_count = 3,
      .arguments = { { .name = "size", .type = FEED_ARGUMENT_UINT, .count = UINT64_MAX },
                     { .name = "at", .type = FEED_ARGUMENT_INT, .integer = -5 },
                     { .name = "share", .type = FEED_ARGUMENT_DOUBLE, .number = 0.5 } } },
    { .kind = TIMELINE_SLICE,
      .start_ns = MS(2009),
      .duration_ns = MS(3),
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "read",
      .stream = "io",
      .complete = true },
    { .kind = TIMELINE_SLICE,
      .start_ns = MS(2012),
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "nothing",
      .stream = "io" },
    { .kind = TIMELINE_INSTANT,
      .start_ns = MS(2013) + 999,
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "ready",
      .stream = "Embedder" },
    { .kind = TIMELINE_ASYNC_BEGIN,
      .start_ns = MS(2014),
      .id = 0x1f,
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "request",
      .stream = "net" },
    { .kind = TIMELINE_ASYNC_INSTANT,
      .start_ns = MS(2015),
      .id = 0x1f,
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "request",
      .stream = "net" },
    { .kind = TIMELINE_ASYNC_END,
      .start_ns = MS(2016),
      .id = 0x1f,
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "request",
      .stream = "net" },
    { .kind = TIMELINE_FLOW_BEGIN,
      .start_ns = MS(2017),
      .id = UINT64_MAX,
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "job",
      .stream = "Dart" },
    { .kind = TIMELINE_FLOW_STEP,
      .start_ns = MS(2018),
      .id = UINT64_MAX,
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "job",
      .stream = "Dart" },
    { .kind = TIMELINE_FLOW_END,
      .start_ns = MS(2019),
      .id = UINT64_MAX,
      .process_id = 100,
      .tid = 110,
      .thread_name = "worker",
      .name = "job",
      .stream = "Dart" },
    { .kind = TIMELINE_COUNTER,
      .start_ns = MS(2020),
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "heap",
      .stream = "GC",
      .argument_count = 2,
      .arguments = { { .name = "used", .type = FEED_ARGUMENT_INT, .integer = 4096 },
                     { .name = "share",
                       .type = FEED_ARGUMENT_DOUBLE,
                       .number = __builtin_inf() } } },
    { .kind = TIMELINE_FRAME,
      .start_ns = MS(2021),
      .duration_ns = MS(10),
      .id = 1,
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "frame",
      .stream = "Embedder" },
    { .kind = TIMELINE_FRAME,
      .start_ns = MS(2031),
      .duration_ns = MS(60),
      .id = 2,
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "frame",
      .stream = "Embedder",
      .argument_count = 3,
      .arguments = { { .name = "build", .type = FEED_ARGUMENT_UINT, .count = 40000 },
                     { .name = "raster", .type = FEED_ARGUMENT_DOUBLE, .number = 19999.5 },
                     { .name = "vsyncOverhead", .type = FEED_ARGUMENT_INT, .integer = 500 } } },
    { .kind = TIMELINE_SLICE,
      .mark = TIMELINE_NO_BEGIN,
      .start_ns = MS(2100),
      .process_id = 101,
      .tid = 101,
      .thread_name = "",
      .name = "",
      .stream = "Dart" },
    { .kind = TIMELINE_SLICE,
      .mark = TIMELINE_CUT_OFF,
      .start_ns = MS(2101),
      .duration_ns = MS(1),
      .process_id = 101,
      .tid = 101,
      .thread_name = "",
      .name = "last",
      .stream = "Dart" },
    { .kind = TIMELINE_SLICE,
      .mark = TIMELINE_OPEN,
      .start_ns = MS(2200),
      .duration_ns = MS(2800),
      .process_id = 100,
      .tid = 100,
      .thread_name = "spin",
      .name = "main",
      .stream = "Embedder" },
};

void fake_events(struct profile *profile)
{
    profile->events = script;
    profile->event_count = sizeof(script) / sizeof(*script);
}

static bool is_wanted(const struct timeline_event *event, const struct timeline_window *window)
{
    int64_t start_us = event->start_ns / 1000;
    int64_t end_us = (event->start_ns + (int64_t)event->duration_ns) / 1000;

    return (!window->process_id || event->process_id == window->process_id) &&
           (!window->tid || event->tid == window->tid) &&
           (!window->kinds || window->kinds & 1u << event->kind) &&
           (!window->bounded ||
            (end_us >= window->origin_us && start_us <= window->origin_us + window->extent_us));
}

static void take(struct timeline *timeline, const struct profile *profile,
                 const struct timeline_window *window)
{
    uint32_t first = (uint32_t)profile->events_evicted;

    if (window->since && !timeline->reset && window->since->event > first)
        first = window->since->event;
    timeline->next = (struct timeline_cursor){ 1, first, profile->event_clears };
    for (uint32_t i = first; i < profile->event_count; i++) {
        const struct timeline_event *event = &profile->events[i];
        bool open = event->mark == TIMELINE_OPEN;

        if (!is_wanted(event, window) || (open && !window->open)) {
            if (!open && !timeline->more) /* behind all that were looked at */
                timeline->next.event = i + 1;
            continue;
        }
        timeline->more |= !open && window->count_max && timeline->count == window->count_max;
        if (open || !timeline->more)
            timeline->events[timeline->count++] = *event;
        if (!open && !timeline->more)
            timeline->next.event = i + 1;
    }
}

int timeline_take(struct timeline **out, struct profile *profile,
                  const struct timeline_window *window)
{
    const struct timeline_cursor *since = window->since;
    struct timeline *timeline = calloc(1, sizeof(*timeline));

    timeline->events = calloc(profile->event_count + 1, sizeof(*timeline->events));
    timeline->reset =
        since && since->chunk &&
        (since->event < profile->events_evicted || since->event > profile->event_count ||
         since->clears != profile->event_clears);
    take(timeline, profile, window);
    *out = timeline;
    return 0;
}

void timeline_free(struct timeline *timeline)
{
    if (timeline)
        free(timeline->events);
    free(timeline);
}

bool timeline_next(struct timeline *timeline, uint64_t *cursor, struct timeline_event *out)
{
    if (*cursor >= timeline->count)
        return false;
    *out = timeline->events[(*cursor)++];
    return true;
}

struct timeline_cursor timeline_cursor(const struct timeline *timeline)
{
    return timeline->next;
}

bool timeline_reset(const struct timeline *timeline)
{
    return timeline->reset;
}

bool timeline_more(const struct timeline *timeline)
{
    return timeline->more;
}

bool timeline_damaged(const struct timeline *timeline)
{
    (void)timeline;
    return false;
}

struct timeline_history profile_timeline_history(struct profile *profile)
{
    struct timeline_history history = { .bytes_max = 64 << 20, .evicted = profile->events_evicted };

    for (uint32_t i = 0; i < profile->event_count; i++)
        history.events += profile->events[i].mark != TIMELINE_OPEN;
    if (history.events) {
        history.bytes = history.events * 32;
        history.unmatched = history.cut_off = 1;
        history.first_ns = profile->events[0].start_ns;
        history.last_ns = profile->events[history.events - 1].start_ns;
    }
    return history;
}

static const char *const streams[] = { "API",  "Compiler", "CompilerVerbose",
                                       "Dart", "Debugger", "Embedder",
                                       "GC",   "Isolate",  "VM",
                                       "net",  "io" };
enum { STREAMS = sizeof(streams) / sizeof(*streams), OWN = 9 };

/* The program's own are known once it tells events. */
size_t profile_timeline_streams(struct profile *profile, const char **out, size_t capacity)
{
    size_t count = profile->event_count ? STREAMS : OWN;

    for (size_t i = 0; i < count && i < capacity; i++)
        out[i] = streams[i];
    return count;
}

bool profile_timeline_records(struct profile *profile, const char *stream)
{
    for (size_t i = 0; i < STREAMS; i++)
        if (!strcmp(streams[i], stream))
            return !(profile->streams_off & 1u << i);
    return !profile->others_off;
}

int profile_timeline_record(struct profile *profile, const char *const *names, size_t count,
                            bool others)
{
    profile->others_off = !others;
    profile->streams_off = (1u << STREAMS) - 1;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < STREAMS; j++)
            if (!strcmp(streams[j], names[i]))
                profile->streams_off &= ~(1u << j);
    return 0;
}

void profile_timeline_clear(struct profile *profile, uint64_t process_id)
{
    (void)process_id;
    profile->event_count = 0;
    profile->event_clears++;
}

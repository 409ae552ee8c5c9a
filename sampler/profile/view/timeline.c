#include "../timeline.h"

#include "../../include/isoscope/isoscope.h"
#include "../events/event_reading.h"
#include "../parts.h"
#include "../saved.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct timeline {
    struct event_views views; /* open slices are the events of a last one, as it were */
    struct timeline_window window;
    struct event_filter filter;
    int64_t now_ns;
    struct event_reading reading; /* of timeline_next, as it was left */
    uint64_t begin, end;          /* places */
    bool reset, more, damaged;
};

static int64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t to_ns(int64_t us)
{
    int64_t ns;

    if (__builtin_mul_overflow(us, 1000, &ns))
        return us < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

/* Up to the last nanosecond of its last microsecond. */
static struct event_filter filter_of(const struct timeline_window *window)
{
    struct event_filter filter = { window->bounded, INT64_MIN, INT64_MAX, window->kinds };
    int64_t last_us;

    if (!window->bounded)
        return filter;
    if (__builtin_add_overflow(window->origin_us, window->extent_us, &last_us))
        last_us = INT64_MAX;
    filter.first_ns = to_ns(window->origin_us);
    filter.last_ns = to_ns(last_us);
    if (filter.last_ns < INT64_MAX - 999)
        filter.last_ns += 999;
    return filter;
}

static bool open_is_asked(const struct timeline *timeline, const struct event_open *open)
{
    uint32_t kinds = timeline->filter.kinds;

    return (!kinds || kinds & 1u << TIMELINE_SLICE) &&
           open->slice.start_ns <= timeline->filter.last_ns;
}

static bool next_open(const struct timeline *timeline, uint64_t *cursor, struct timeline_event *out)
{
    const struct event_views *views = &timeline->views;
    uint32_t number = EVENT_PLACE_VIEW(*cursor) == views->count ? EVENT_PLACE_EVENT(*cursor) : 0;

    while (number < views->open_count && !open_is_asked(timeline, &views->open[number]))
        number++;
    if (number >= views->open_count)
        return false;
    event_open_show(&views->open[number], timeline->now_ns, out);
    *cursor = EVENT_PLACE(views->count, number + 1);
    return true;
}

bool timeline_next(struct timeline *timeline, uint64_t *cursor, struct timeline_event *out)
{
    struct event_reading *reading = &timeline->reading;
    uint64_t place = *cursor > timeline->begin ? *cursor : timeline->begin;

    if (reading->place != place)
        *reading = (struct event_reading){ place, EVENT_WORDS_UNKNOWN };
    if (!event_reading_find(&timeline->views, &timeline->filter, reading, timeline->end,
                            &timeline->damaged))
        return next_open(timeline, cursor, out);
    event_reading_take(&timeline->views, reading, out);
    *cursor = reading->place;
    return true;
}

/* Where the last event of count_max ends. */
static void find_end(struct timeline *timeline)
{
    uint64_t whole = EVENT_PLACE(timeline->views.count, 0), count_max = timeline->window.count_max;
    struct event_reading reading = { timeline->begin, EVENT_WORDS_UNKNOWN };

    timeline->end = whole;
    for (uint64_t i = 0; i < count_max; i++) {
        if (!event_reading_find(&timeline->views, &timeline->filter, &reading, whole,
                                &timeline->damaged))
            return;
        event_reading_pass(&timeline->views, &reading);
    }
    if (!count_max)
        return;
    timeline->end = reading.place;
    timeline->more = event_reading_find(&timeline->views, &timeline->filter, &reading, whole,
                                        &timeline->damaged);
    if (!timeline->more)
        timeline->end = whole;
}

static int take_views(struct timeline *timeline, struct event_store *store, uint64_t serial_min)
{
    const struct timeline_window *window = &timeline->window;
    const struct event_ask ask = {
        .process_id = window->process_id,
        .tid = window->tid,
        .serial_min = serial_min,
        .first_ns = timeline->filter.first_ns,
        .last_ns = timeline->filter.last_ns,
        .open = window->open,
    };

    return event_store_views(store, &ask, &timeline->views);
}

/* What the reader does not have; all, when what it has is void. */
static int take_since(struct timeline *timeline, struct event_store *store)
{
    const struct timeline_cursor *since = timeline->window.since;
    const struct event_views *views = &timeline->views;
    int error = take_views(timeline, store, since ? since->chunk : 0);

    if (error || !since || !since->chunk)
        return error;
    timeline->reset = since->clears != views->clears || !views->has_oldest;
    if (timeline->reset) {
        event_views_free(&timeline->views);
        return take_views(timeline, store, 0);
    }
    if (views->count && views->views[0].chunk->serial == since->chunk)
        timeline->begin = EVENT_PLACE(0, since->event);
    return 0;
}

static int64_t now_ns(const struct profile *profile)
{
    return profile_is_saved(profile) ? to_ns(saved_now_us(profile)) : clock_ns();
}

int timeline_take(struct timeline **out, struct profile *profile,
                  const struct timeline_window *window)
{
    struct process_info info;
    struct timeline *timeline;
    int error;

    if (window->process_id && !profile_process(profile, window->process_id, &info))
        return -ISOSCOPE_NOT_FOUND;
    timeline = calloc(1, sizeof(*timeline));
    if (!timeline)
        return -ISOSCOPE_NO_MEMORY;
    timeline->window = *window;
    timeline->filter = filter_of(window);
    error = take_since(timeline, profile->events);
    if (error) {
        timeline_free(timeline);
        return error;
    }
    timeline->now_ns = now_ns(profile); /* later than all begins */
    timeline->reading.words = EVENT_WORDS_UNKNOWN;
    find_end(timeline);
    *out = timeline;
    return 0;
}

void timeline_free(struct timeline *timeline)
{
    if (!timeline)
        return;
    event_views_free(&timeline->views);
    free(timeline);
}

struct timeline_cursor timeline_cursor(const struct timeline *timeline)
{
    const struct timeline_cursor *since = timeline->window.since;
    const struct event_views *views = &timeline->views;
    uint32_t number = EVENT_PLACE_VIEW(timeline->end);
    struct timeline_cursor cursor = { .clears = views->clears };

    if (number < views->count) {
        cursor.chunk = views->views[number].chunk->serial;
        cursor.event = EVENT_PLACE_EVENT(timeline->end);
    } else if (views->count) {
        cursor.chunk = views->views[views->count - 1].chunk->serial;
        cursor.event = views->views[views->count - 1].count;
    } else if (since && !timeline->reset) {
        cursor.chunk = since->chunk;
        cursor.event = since->event;
    }
    return cursor;
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
    return timeline->damaged;
}

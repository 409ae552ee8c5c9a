#include "window.h"

#include "../include/isoscope/isoscope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(CHUNK_ENTRIES_MAX <= 65536, "a pick holds the number of a sample");

/* Samples come in almost sorted; this many moves for each say that these did not. */
enum { MOVES_PER_PICK = 8 };

struct span window_span(const struct snapshot_window *window)
{
    struct span span = { INT64_MIN, INT64_MAX };

    if (!window->bounded)
        return span;
    span.first_us = window->origin_us;
    if (window->extent_us < 0)
        return (struct span){ INT64_MAX, INT64_MIN };
    if (__builtin_add_overflow(window->origin_us, window->extent_us, &span.last_us))
        span.last_us = INT64_MAX;
    return span;
}

static bool overlaps(const struct store_view *view, struct span span)
{
    return view->sample_count && view->min_us <= span.last_us && view->max_us >= span.first_us;
}

static bool has_tag(const struct view_source *source, const char *const *user_tags,
                    const struct names *names)
{
    const char *tag = snapshot_user_tag(names_text(names, source->tag), source->name);

    for (; *user_tags; user_tags++)
        if (!strcmp(*user_tags, tag))
            return true;
    return false;
}

void window_choose_sources(struct store_view *views, uint32_t view_count,
                           const struct snapshot_window *window, const struct names *names)
{
    if (!window->user_tags)
        return;
    for (uint32_t view = 0; view < view_count; view++)
        for (uint32_t i = 0; i < views[view].source_count; i++)
            if (!has_tag(&views[view].sources[i], window->user_tags, names))
                views[view].sources[i].first_visible = UINT32_MAX;
}

static bool belongs(const struct store_view *view, uint32_t sample, struct span span, int32_t tid)
{
    const struct view_source *source = &view->sources[view->chunk->samples[sample].source];
    int64_t time_us = chunk_sample_us(view->chunk, sample);

    return time_us >= span.first_us && time_us <= span.last_us && sample >= source->first_visible &&
           (!tid || tid == source->tid);
}

static uint32_t first_sample(const struct store_view *view, const struct sieve *sieve)
{
    return view->chunk->serial == sieve->since.chunk ? sieve->since.sample : 0;
}

/* Views stand in the order of their chunks. */
static uint32_t end_sample(const struct store_view *view, const struct sieve *sieve)
{
    if (view->chunk->serial > sieve->end.chunk)
        return 0;
    return view->chunk->serial == sieve->end.chunk ? sieve->end.sample : view->sample_count;
}

/* Sets the sieve's end: that of all samples, or behind the last of first_max (0: there is none). */
static uint32_t count_all(struct window *window, uint64_t first_max)
{
    struct sieve *sieve = &window->sieve;
    uint32_t count = 0;

    sieve->end = sieve->since;
    for (uint32_t i = 0; i < window->view_count; i++) {
        const struct store_view *view = &window->views[i];

        if (!overlaps(view, sieve->span))
            continue;
        sieve->end = (struct snapshot_mark){ view->chunk->serial, view->sample_count };
        for (uint32_t sample = first_sample(view, sieve); sample < view->sample_count; sample++) {
            count += belongs(view, sample, sieve->span, sieve->tid);
            if (first_max && count == first_max) {
                sieve->end.sample = sample + 1;
                return count;
            }
        }
    }
    return count;
}

/* Ties stay in the order of arrival. */
static int compare(const struct store_view *views, struct pick a, struct pick b)
{
    int64_t a_us = pick_us(views, a), b_us = pick_us(views, b);

    if (a_us != b_us)
        return a_us < b_us ? -1 : 1;
    if (a.view != b.view)
        return a.view < b.view ? -1 : 1;
    return a.sample < b.sample ? -1 : a.sample > b.sample;
}

static int by_time(const void *left, const void *right, void *views)
{
    return compare(views, *(const struct pick *)left, *(const struct pick *)right);
}

/* One pass for what is almost sorted. False: it is not, and sorting goes on elsewhere. */
static bool sort_almost_sorted(struct pick *picks, uint32_t count, const struct store_view *views)
{
    uint64_t moves_left = (uint64_t)count * MOVES_PER_PICK;

    for (uint32_t i = 1; i < count; i++) {
        struct pick pick = picks[i];
        int64_t time_us = pick_us(views, pick);
        uint32_t to = i;

        for (; to > 0 && moves_left && pick_us(views, picks[to - 1]) > time_us; to--, moves_left--)
            picks[to] = picks[to - 1];
        picks[to] = pick;
        if (!moves_left)
            return false;
    }
    return true;
}

static void sort(struct window *window)
{
    if (!sort_almost_sorted(window->picks, window->count, window->views))
        qsort_r(window->picks, window->count, sizeof(*window->picks), by_time,
                (void *)window->views);
}

/* What a batch may take: behind the one before it, and before what is too late for it. */
struct limits {
    struct pick after, before;
    bool has_after, has_before;
    struct span span; /* of their times */
};

static bool is_within(const struct window *window, const struct limits *limits, struct pick pick)
{
    return (!limits->has_after || compare(window->views, pick, limits->after) > 0) &&
           (!limits->has_before || compare(window->views, pick, limits->before) < 0);
}

/* The later half goes, when there is no room: another batch will find it again. */
static void take(struct window *window, struct limits *limits, struct pick pick)
{
    window->picks[window->count++] = pick;
    if (window->count < 2 * WINDOW_BATCH)
        return;
    sort(window);
    window->count = WINDOW_BATCH;
    limits->before = window->picks[WINDOW_BATCH - 1];
    limits->has_before = true;
    limits->span.last_us = pick_us(window->views, limits->before);
}

static void take_from(struct window *window, struct limits *limits, uint32_t number)
{
    const struct store_view *view = &window->views[number];

    uint32_t end = end_sample(view, &window->sieve);

    for (uint32_t sample = first_sample(view, &window->sieve); sample < end; sample++) {
        struct pick pick = { (uint16_t)number, (uint16_t)sample };

        if (belongs(view, sample, limits->span, window->sieve.tid) &&
            is_within(window, limits, pick))
            take(window, limits, pick);
    }
}

int window_each(const struct window *window, int (*each)(void *context, struct pick pick),
                void *context)
{
    const struct sieve *sieve = &window->sieve;

    assert(window->whole);
    for (uint32_t number = 0; number < window->view_count; number++) {
        const struct store_view *view = &window->views[number];
        uint32_t end = overlaps(view, sieve->span) ? end_sample(view, sieve) : 0;

        for (uint32_t sample = first_sample(view, sieve); sample < end; sample++) {
            int result = belongs(view, sample, sieve->span, sieve->tid)
                             ? each(context, (struct pick){ (uint16_t)number, (uint16_t)sample })
                             : 0;

            if (result)
                return result;
        }
    }
    return 0;
}

void window_rewind(struct window *window)
{
    window->first = window->count = 0;
}

bool window_next(struct window *window)
{
    struct limits limits = { .span = window->sieve.span };
    uint32_t done = window->first + window->count, left = window->total - done;

    if (!left)
        return false;
    if (window->count) {
        limits.after = window->picks[window->count - 1];
        limits.has_after = true;
        limits.span.first_us = pick_us(window->views, limits.after);
    }
    window->first = done;
    window->count = 0;
    for (uint32_t view = 0; view < window->view_count; view++)
        if (overlaps(&window->views[view], limits.span))
            take_from(window, &limits, view);
    sort(window);
    if (window->count > WINDOW_BATCH)
        window->count = WINDOW_BATCH;
    if (window->count > left)
        window->count = left;
    return true;
}

int window_open(struct window *window, const struct store_view *views, uint32_t view_count,
                const struct snapshot_window *asked)
{
    uint32_t found, room;

    *window = (struct window){
        .views = views,
        .view_count = view_count,
        .sieve = { .span = window_span(asked), .tid = asked->tid },
    };
    if (asked->since)
        window->sieve.since = *asked->since;
    if (view_count > WINDOW_VIEWS_MAX)
        return -ISOSCOPE_NO_MEMORY;
    found = count_all(window, asked->since ? asked->count_max : 0);
    window->total =
        asked->count_max && asked->count_max < found ? (uint32_t)asked->count_max : found;
    window->whole = window->total == found;
    room = found < 2 * WINDOW_BATCH ? found : 2 * WINDOW_BATCH;
    window->picks = calloc((size_t)room + 1, sizeof(*window->picks));
    return window->picks ? 0 : -ISOSCOPE_NO_MEMORY;
}

void window_close(struct window *window)
{
    free(window->picks);
    *window = (struct window){ 0 };
}

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

/* What a window lets through. */
struct sieve {
    struct span span;
    int32_t tid;                /* 0: whosever it is */
    struct snapshot_mark since; /* samples of its chunk that stand before it are left out */
    uint64_t count_max;         /* in the order in which they came; 0: all */
};

static struct sieve sieve_of(const struct snapshot_window *window)
{
    struct sieve sieve = { .span = window_span(window), .tid = window->tid };

    if (window->since) {
        sieve.since = *window->since;
        sieve.count_max = window->count_max;
    }
    return sieve;
}

static bool belongs(const struct store_view *view, uint32_t sample, const struct sieve *sieve)
{
    const struct view_source *source = &view->sources[view->chunk->samples[sample].source];
    int64_t time_us = chunk_sample_us(view->chunk, sample);

    return time_us >= sieve->span.first_us && time_us <= sieve->span.last_us &&
           sample >= source->first_visible && (!sieve->tid || sieve->tid == source->tid);
}

static uint32_t first_sample(const struct store_view *view, const struct sieve *sieve)
{
    return view->chunk->serial == sieve->since.chunk ? sieve->since.sample : 0;
}

/* Returns how many there are; picks may be NULL to count only. */
static uint32_t collect(struct pick *picks, struct snapshot_mark *end,
                        const struct store_view *views, uint32_t view_count,
                        const struct sieve *sieve)
{
    uint32_t count = 0;

    *end = sieve->since;
    for (uint32_t view = 0; view < view_count; view++) {
        if (!overlaps(&views[view], sieve->span))
            continue;
        *end = (struct snapshot_mark){ views[view].chunk->serial, views[view].sample_count };
        for (uint32_t sample = first_sample(&views[view], sieve); sample < views[view].sample_count;
             sample++) {
            if (!belongs(&views[view], sample, sieve))
                continue;
            if (picks)
                picks[count] = (struct pick){ (uint16_t)view, (uint16_t)sample };
            if (++count == sieve->count_max) {
                end->sample = sample + 1;
                return count;
            }
        }
    }
    return count;
}

/* Ties stay in the order of arrival. */
static int by_time(const void *left, const void *right, void *views)
{
    const struct pick *a = left, *b = right;
    int64_t a_us = pick_us(views, *a), b_us = pick_us(views, *b);

    if (a_us != b_us)
        return a_us < b_us ? -1 : 1;
    if (a->view != b->view)
        return a->view < b->view ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
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

int window_pick(struct pick **out, uint32_t *count, struct snapshot_mark *end,
                const struct store_view *views, uint32_t view_count,
                const struct snapshot_window *window)
{
    struct sieve sieve = sieve_of(window);
    uint32_t found = collect(NULL, end, views, view_count, &sieve);
    struct pick *picks =
        view_count <= WINDOW_VIEWS_MAX ? calloc((size_t)found + 1, sizeof(*picks)) : NULL;

    if (!picks)
        return -ISOSCOPE_NO_MEMORY;
    collect(picks, end, views, view_count, &sieve);
    if (!sort_almost_sorted(picks, found, views))
        qsort_r(picks, found, sizeof(*picks), by_time, (void *)views);
    *out = picks;
    *count = window->count_max && window->count_max < found ? (uint32_t)window->count_max : found;
    return 0;
}

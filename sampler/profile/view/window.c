#include "window.h"

#include "../../include/isoscope/isoscope.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(CHUNK_ENTRIES_MAX <= 65536, "a pick holds the number of a sample");

/* Samples come in almost sorted; this many moves for each say that these did not. */
enum { MOVES_PER_PICK = 8 };

enum { WORK_SORTED = 2 };

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

/* Sets the sieve's end: that of all samples, or behind the last of first_max. */
static int count_view(struct window *window, uint32_t number)
{
    const struct store_view *view = &window->views[number];
    struct reach *reach = &window->reach[number];
    struct sieve *sieve = &window->sieve;
    uint32_t sample = first_sample(view, sieve);
    int error;

    if (!overlaps(view, sieve->span))
        return 0;
    if ((error = store_load(view)) < 0)
        return error;
    sieve->end = (struct snapshot_cursor){ view->chunk->serial, view->sample_count };
    for (; sample < view->sample_count; sample++) {
        if (!belongs(view, sample, sieve->span, sieve->tid))
            continue;
        if (!reach->count++)
            reach->first = sample;
        reach->end = sample + 1;
        if (window->first_max && window->total + reach->count == window->first_max) {
            sieve->end.sample = sample + 1;
            break;
        }
    }
    reach->next = reach->first;
    window->total += reach->count;
    return 0;
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

static bool is_within(const struct window *window, const struct limits *limits, struct pick pick)
{
    return (!limits->has_after || compare(window->views, pick, limits->after) > 0) &&
           (!limits->has_before || compare(window->views, pick, limits->before) < 0);
}

/* The later half goes, when there is no room: another batch will find it again. */
static void take_pick(struct window *window, struct pick pick)
{
    struct limits *limits = &window->limits;

    window->picks[window->count++] = pick;
    if (window->count < 2 * WINDOW_BATCH)
        return;
    sort(window);
    window->count = WINDOW_BATCH;
    limits->before = window->picks[WINDOW_BATCH - 1];
    limits->has_before = true;
    limits->span.last_us = pick_us(window->views, limits->before);
}

static bool is_behind(const struct window *window, struct pick pick)
{
    return !window->limits.has_after || compare(window->views, pick, window->limits.after) > 0;
}

/* What leads the view and is in earlier batches is not looked at again. */
static void pass_by(const struct window *window, uint32_t number, struct reach *reach)
{
    while (reach->next < reach->end &&
           !is_behind(window, (struct pick){ (uint16_t)number, (uint16_t)reach->next }))
        reach->next++;
}

static void take_from(struct window *window, uint32_t number)
{
    const struct store_view *view = &window->views[number];
    struct reach *reach = &window->reach[number];
    const struct limits *limits = &window->limits;

    pass_by(window, number, reach);
    for (uint32_t sample = reach->next; sample < reach->end; sample++) {
        struct pick pick = { (uint16_t)number, (uint16_t)sample };

        if (belongs(view, sample, limits->span, window->sieve.tid) &&
            is_within(window, limits, pick))
            take_pick(window, pick);
    }
}

void window_rewind(struct window *window)
{
    window->first = window->count = 0;
    window->gathering = false;
    for (uint32_t view = 0; view < window->view_count; view++)
        window->reach[view].next = window->reach[view].first;
}

static void begin_batch(struct window *window)
{
    struct limits limits = { .span = window->sieve.span };

    if (window->count) {
        limits.after = window->picks[window->count - 1];
        limits.has_after = true;
        limits.span.first_us = pick_us(window->views, limits.after);
    }
    window->limits = limits;
    window->first += window->count;
    window->count = 0;
    window->gathered = 0;
    window->gathering = true;
}

static void end_batch(struct window *window)
{
    uint32_t left = window->total - window->first;

    sort(window);
    if (window->count > WINDOW_BATCH)
        window->count = WINDOW_BATCH;
    if (window->count > left)
        window->count = left;
    window->gathering = false;
}

int window_gather(struct window *window, int64_t *work)
{
    if (!window->gathering)
        begin_batch(window);
    while (window->gathered < window->view_count && window->first < window->total) {
        uint32_t number = window->gathered;
        const struct reach *reach = &window->reach[number];

        if (*work <= 0)
            return 1;
        window->gathered++;
        work_off(work, 1);
        if (!reach->count || !overlaps(&window->views[number], window->limits.span))
            continue;
        work_off(work, reach->end - reach->next);
        take_from(window, number);
    }
    work_off(work, WORK_SORTED * window->count);
    end_batch(window);
    return 0;
}

/* Finds the last that is shown: there are more than were asked for. */
static int find_last(struct window *window, int64_t *work)
{
    while (window->first + window->count < window->total || window->gathering)
        if (window_gather(window, work))
            return 1;
    window->last = window->picks[window->count - 1];
    window->cut = true;
    window->sieve.span.last_us = pick_us(window->views, window->last);
    window_rewind(window);
    return 0;
}

static int make_room(struct window *window)
{
    uint32_t room = window->total < 2 * WINDOW_BATCH ? window->total : 2 * WINDOW_BATCH;

    if (window->count_max && window->count_max < window->total)
        window->total = (uint32_t)window->count_max;
    else
        window->count_max = 0;
    window->picks = calloc((size_t)room + 1, sizeof(*window->picks));
    return window->picks ? 0 : -ISOSCOPE_NO_MEMORY;
}

static bool is_full(const struct window *window)
{
    return window->first_max && window->total == window->first_max;
}

int window_count(struct window *window, int64_t *work)
{
    while (window->counted < window->view_count && !is_full(window)) {
        int error;

        if (*work <= 0)
            return 1;
        work_off(work, window->views[window->counted].sample_count);
        if ((error = count_view(window, window->counted++)) < 0)
            return error;
    }
    if (!window->picks && make_room(window) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return window->count_max && !window->cut ? find_last(window, work) : 0;
}

bool window_reaches(const struct window *window, uint32_t view)
{
    return window->reach[view].count && overlaps(&window->views[view], window->sieve.span);
}

bool window_shows(const struct window *window, struct pick pick)
{
    const struct sieve *sieve = &window->sieve;

    return belongs(&window->views[pick.view], pick.sample, sieve->span, sieve->tid) &&
           (!window->cut || compare(window->views, pick, window->last) <= 0);
}

int window_open(struct window *window, const struct store_view *views, uint32_t view_count,
                const struct snapshot_window *asked)
{
    *window = (struct window){
        .views = views,
        .view_count = view_count,
        .sieve = { .span = window_span(asked), .tid = asked->tid },
        .first_max = asked->since ? asked->count_max : 0,
        .count_max = asked->since ? 0 : asked->count_max,
    };
    if (asked->since)
        window->sieve.since = window->sieve.end = *asked->since;
    if (view_count > WINDOW_VIEWS_MAX)
        return -ISOSCOPE_NO_MEMORY;
    window->reach = calloc((size_t)view_count + 1, sizeof(*window->reach));
    return window->reach ? 0 : -ISOSCOPE_NO_MEMORY;
}

void window_close(struct window *window)
{
    free(window->picks);
    free(window->reach);
    *window = (struct window){ 0 };
}

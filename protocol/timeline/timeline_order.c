#include "timeline_order.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* A run is sorted in one go, in some milliseconds. */
enum { RUN = 1 << 15, WORK_EVENT = 16, WORK_SORT = WORK_TURN / 2 };

struct place {
    int64_t at_ns;
    uint64_t cursor; /* of timeline_next, before the event */
    uint32_t side;
    uint32_t depth;
};

struct run {
    struct place *places; /* RUN of them */
    uint32_t next, count;
};

struct timeline_order {
    struct timeline *timeline;
    struct timeline_span span;
    bool splits, gathered;
    uint64_t cursor;
    struct run *runs;
    uint32_t run_count, run_capacity;
    uint32_t *heap; /* of runs, by the place that is next */
    uint32_t heap_count;
};

int timeline_order_take(struct timeline_order **out, struct profile *profile,
                        const struct timeline_span *span, bool splits)
{
    struct timeline_window window = { .bounded = span->bounded,
                                      .origin_us = span->from_us,
                                      .extent_us = span->to_us - span->from_us,
                                      .open = true };
    struct timeline_order *order = calloc(1, sizeof(*order));
    int rc = order ? timeline_take(&order->timeline, profile, &window) : -ISOSCOPE_NO_MEMORY;

    if (rc < 0) {
        free(order);
        return rc;
    }
    order->span = *span;
    order->splits = splits;
    *out = order;
    return 0;
}

void timeline_order_free(struct timeline_order *order)
{
    if (!order)
        return;
    for (uint32_t i = 0; i < order->run_count; i++)
        free(order->runs[i].places);
    free(order->runs);
    free(order->heap);
    timeline_free(order->timeline);
    free(order);
}

/* Where sides share a moment: ends first, inner ones before outer ones; then begins, outer ones
 * first; then what has no sides. */
static int compare_places(const struct place *a, const struct place *b)
{
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->depth != b->depth && a->side != TIMELINE_SIDE_WHOLE)
        return (a->depth < b->depth) == (a->side == TIMELINE_SIDE_BEGIN) ? -1 : 1;
    return a->cursor < b->cursor ? -1 : a->cursor > b->cursor;
}

static int compare(const void *a, const void *b)
{
    return compare_places(a, b);
}

static void sort_run(struct timeline_order *order, int64_t *work)
{
    struct run *run = &order->runs[order->run_count - 1];

    qsort(run->places, run->count, sizeof(*run->places), compare);
    work_off(work, WORK_SORT);
}

/* False: out of memory. */
static bool begin_run(struct timeline_order *order)
{
    struct run *run;

    if (order->run_count == order->run_capacity) {
        uint32_t capacity = order->run_capacity ? 2 * order->run_capacity : 16;
        struct run *runs = reallocarray(order->runs, capacity, sizeof(*runs));

        if (!runs)
            return false;
        order->runs = runs;
        order->run_capacity = capacity;
    }
    run = &order->runs[order->run_count];
    *run = (struct run){ .places = malloc(RUN * sizeof(*run->places)) };
    order->run_count += run->places != NULL;
    return run->places != NULL;
}

static bool add_place(struct timeline_order *order, const struct place *place, int64_t *work)
{
    struct run *run = order->run_count ? &order->runs[order->run_count - 1] : NULL;

    if (!run || run->count == RUN) {
        if (run)
            sort_run(order, work);
        if (!begin_run(order))
            return false;
        run = &order->runs[order->run_count - 1];
    }
    run->places[run->count++] = *place;
    return true;
}

static bool has(const struct timeline_order *order, int64_t at_ns)
{
    const struct timeline_span *span = &order->span;

    return !span->bounded || (at_ns / 1000 >= span->from_us && at_ns / 1000 <= span->to_us);
}

static bool overlaps(const struct timeline_order *order, const struct timeline_event *event)
{
    const struct timeline_span *span = &order->span;
    int64_t end_ns = event->start_ns + (int64_t)event->duration_ns;

    return !span->bounded ||
           (end_ns / 1000 >= span->from_us && event->start_ns / 1000 <= span->to_us);
}

static bool has_sides(const struct timeline_order *order, const struct timeline_event *event)
{
    if (event->kind == TIMELINE_FRAME)
        return event->duration_ns;
    return event->kind == TIMELINE_SLICE && event->duration_ns &&
           event->mark != TIMELINE_NO_BEGIN && (order->splits || !event->complete);
}

/* What stands open has no end yet. */
static bool add_event(struct timeline_order *order, const struct timeline_event *event,
                      uint64_t cursor, int64_t *work)
{
    struct place place = { event->start_ns, cursor, TIMELINE_SIDE_BEGIN, event->depth };
    int64_t end_ns = event->start_ns + (int64_t)event->duration_ns;

    if (!has_sides(order, event)) {
        place.side = TIMELINE_SIDE_WHOLE;
        if (event->mark == TIMELINE_OPEN)
            place.side = TIMELINE_SIDE_BEGIN;
        return !overlaps(order, event) || add_place(order, &place, work);
    }
    if (has(order, event->start_ns) && !add_place(order, &place, work))
        return false;
    place.at_ns = end_ns;
    place.side = TIMELINE_SIDE_END;
    return event->mark == TIMELINE_OPEN || !has(order, end_ns) || add_place(order, &place, work);
}

static const struct place *next_of(const struct timeline_order *order, uint32_t entry)
{
    const struct run *run = &order->runs[order->heap[entry]];

    return &run->places[run->next];
}

static void sink(struct timeline_order *order, uint32_t entry)
{
    for (;;) {
        uint32_t least = 2 * entry + 1, moved = order->heap[entry];

        if (least >= order->heap_count)
            return;
        if (least + 1 < order->heap_count &&
            compare_places(next_of(order, least + 1), next_of(order, least)) < 0)
            least++;
        if (compare_places(next_of(order, entry), next_of(order, least)) <= 0)
            return;
        order->heap[entry] = order->heap[least];
        order->heap[least] = moved;
        entry = least;
    }
}

/* False: out of memory. */
static bool begin_merge(struct timeline_order *order, int64_t *work)
{
    if (order->run_count)
        sort_run(order, work);
    order->heap = calloc((size_t)order->run_count + 1, sizeof(*order->heap));
    if (!order->heap)
        return false;
    for (uint32_t i = 0; i < order->run_count; i++)
        order->heap[i] = i;
    order->heap_count = order->run_count;
    for (uint32_t entry = order->heap_count / 2; entry-- > 0;)
        sink(order, entry);
    order->gathered = true;
    return true;
}

int timeline_order_gather(struct timeline_order *order, int64_t *work)
{
    struct timeline_event event;

    while (!order->gathered) {
        uint64_t cursor = order->cursor;

        if (*work <= 0)
            return 1;
        work_off(work, WORK_EVENT);
        if (!timeline_next(order->timeline, &order->cursor, &event))
            return begin_merge(order, work) ? 0 : -ISOSCOPE_NO_MEMORY;
        if (!add_event(order, &event, cursor, work))
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

bool timeline_order_next(struct timeline_order *order, struct timeline_event *out,
                         enum timeline_side *side)
{
    struct run *run;
    uint64_t cursor;

    if (!order->heap_count)
        return false;
    run = &order->runs[order->heap[0]];
    cursor = run->places[run->next].cursor;
    *side = (enum timeline_side)run->places[run->next].side;
    if (++run->next == run->count)
        order->heap[0] = order->heap[--order->heap_count];
    sink(order, 0);
    return timeline_next(order->timeline, &cursor, out);
}

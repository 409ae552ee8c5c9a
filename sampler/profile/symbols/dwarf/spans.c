#include "spans.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "../key_sort.h"
#include "../../base/grow.h"

#include <stdbool.h>
#include <stdlib.h>

/* Each span begins once and ends once. */
enum { CUTS_PER_SPAN = 2, SPANS_MAX = INT32_MAX / CUTS_PER_SPAN };

/* The spans that cover where the sweep is, the winner first; some may have ended by now. */
struct heap {
    const struct span **spans;
    uint32_t count;
};

int spans_add(struct spans *spans, uint64_t start, uint64_t end, uint32_t id)
{
    if (end <= start)
        return 0;
    if (spans->count == SPANS_MAX || !GROW(spans->spans, spans->count, spans->capacity))
        return -ISOSCOPE_NO_MEMORY;
    spans->spans[spans->count] =
        (struct span){ .start = start, .end = end, .id = id, .turn = spans->count };
    spans->count++;
    return 0;
}

void spans_free(struct spans *spans)
{
    free(spans->spans);
    *spans = (struct spans){ 0 };
}

void cuts_free(struct cuts *cuts)
{
    free(cuts->cuts);
    *cuts = (struct cuts){ 0 };
}

static bool wins(const struct span *a, const struct span *b)
{
    uint64_t a_length = a->end - a->start, b_length = b->end - b->start;

    return a_length != b_length ? a_length < b_length : a->turn > b->turn;
}

static void heap_push(struct heap *heap, const struct span *span)
{
    uint32_t at = heap->count++;

    for (; at > 0 && wins(span, heap->spans[(at - 1) / 2]); at = (at - 1) / 2)
        heap->spans[at] = heap->spans[(at - 1) / 2];
    heap->spans[at] = span;
}

static void heap_pop(struct heap *heap)
{
    const struct span *last = heap->spans[--heap->count];
    uint32_t at = 0, child;

    while ((child = 2 * at + 1) < heap->count) {
        if (child + 1 < heap->count && wins(heap->spans[child + 1], heap->spans[child]))
            child++;
        if (!wins(heap->spans[child], last))
            break;
        heap->spans[at] = heap->spans[child];
        at = child;
    }
    heap->spans[at] = last;
}

static void cut_here(struct cuts *cuts, uint64_t start, uint32_t id)
{
    struct cut *last = cuts->count ? &cuts->cuts[cuts->count - 1] : NULL;

    if (last && last->start == start) {
        last->id = id;
        /* What was before may go on. */
        if (cuts->count > 1 && last[-1].id == id)
            cuts->count--;
    } else if (last ? last->id != id : id != CUT_NONE) {
        cuts->cuts[cuts->count++] = (struct cut){ .start = start, .id = id };
    }
}

/* Cuts at the ends of all that is over before the address. */
static void sweep_to(struct heap *heap, uint64_t address, struct cuts *cuts)
{
    while (heap->count && heap->spans[0]->end <= address) {
        uint64_t end = heap->spans[0]->end;

        while (heap->count && heap->spans[0]->end <= end)
            heap_pop(heap);
        cut_here(cuts, end, heap->count ? heap->spans[0]->id : CUT_NONE);
    }
}

static void freep(void *pointer)
{
    free(*(void **)pointer);
}

/* By start, then by turn: they are in the order of their turns. */
static struct sort_key *sorted_starts(const struct spans *spans)
{
    struct sort_key *order = reallocarray(NULL, spans->count + 1, sizeof(*order));

    for (uint32_t i = 0; order && i < spans->count; i++)
        order[i] = (struct sort_key){ spans->spans[i].start, i };
    if (!order || key_sort(order, spans->count) == 0)
        return order;
    free(order);
    return NULL;
}

int spans_cut(const struct spans *spans, struct cuts *out)
{
    CLEANUP(freep) struct sort_key *order = sorted_starts(spans);
    CLEANUP(freep) const struct span **places = NULL;
    struct heap heap = { 0 };
    struct cuts cuts = { 0 };

    places = reallocarray(NULL, spans->count + 1, sizeof(const struct span *));
    cuts.cuts = reallocarray(NULL, CUTS_PER_SPAN * spans->count + 1, sizeof(*cuts.cuts));
    if (!order || !places || !cuts.cuts) {
        cuts_free(&cuts);
        return -ISOSCOPE_NO_MEMORY;
    }
    heap.spans = places;
    for (uint32_t i = 0; i < spans->count; i++) {
        const struct span *span = &spans->spans[order[i].number];

        sweep_to(&heap, span->start, &cuts);
        heap_push(&heap, span);
        cut_here(&cuts, span->start, heap.spans[0]->id);
    }
    sweep_to(&heap, UINT64_MAX, &cuts);
    *out = cuts;
    return 0;
}

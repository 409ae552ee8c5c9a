/*
 * window.h - which stored samples a snapshot shows, in the order of time, some at a time.
 *
 *   views -> window_next (the 8,192 that follow in time) -> picks
 *
 * A reply of any length costs one batch: picks of all samples would be 4 bytes each, as long as a
 * slow client reads. Each batch looks through the views that have samples of its time: one or two,
 * for chunks follow each other but for a round's disorder.
 *
 * Ownership  window_open allocates, window_close gives back; it refers to the views, which are the
 *            caller's. All zeros is a closed one.
 * Errors     0 or -ISOSCOPE_NO_MEMORY (of more than WINDOW_VIEWS_MAX views, too).
 */
#ifndef ISOSCOPE_WINDOW_H
#define ISOSCOPE_WINDOW_H

#include "names.h"
#include "snapshot.h"
#include "store.h"

struct pick {
    uint16_t view;   /* index into the views */
    uint16_t sample; /* index into the view's chunk's samples */
};

enum { WINDOW_VIEWS_MAX = 65536, WINDOW_BATCH = 8192 };

struct span {
    int64_t first_us, last_us; /* both belong to it */
};

/* What a window lets through. Marks are in the order in which samples came. */
struct sieve {
    struct span span;
    int32_t tid;                     /* 0: whosever it is */
    struct snapshot_mark since, end; /* what stands before since, and from end on, is left out */
};

struct window {
    const struct store_view *views;
    uint32_t view_count;
    struct sieve sieve;
    uint32_t total; /* samples of all batches */
    bool whole;     /* those are all that the sieve lets through */
    uint32_t first; /* how many there were before this batch */
    uint32_t count; /* of this batch */
    struct pick *picks;
};

struct span window_span(const struct snapshot_window *window);
/* Sources that have none of the window's user tags are not asked for any more. */
void window_choose_sources(struct store_view *views, uint32_t view_count,
                           const struct snapshot_window *window, const struct names *names);

/* Before its first batch. */
int window_open(struct window *window, const struct store_view *views, uint32_t view_count,
                const struct snapshot_window *asked);
void window_close(struct window *window);
/* Tells each sample of a whole window, in no order of time, which costs less than batches. Stops
 * at the first that is not 0, and returns it. */
int window_each(const struct window *window, int (*each)(void *context, struct pick pick),
                void *context);
/* Back to before the first batch. */
void window_rewind(struct window *window);
/* False: there is no more, and the batch stays as it is. */
bool window_next(struct window *window);

static inline int64_t pick_us(const struct store_view *views, struct pick pick)
{
    return chunk_sample_us(views[pick.view].chunk, pick.sample);
}

#endif

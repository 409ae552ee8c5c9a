/*
 * window.h - which stored samples a snapshot shows, in the order of time, some at a time.
 *
 *   views -> window_count (where the window's samples are) -> window_gather (the 8,192 that follow
 *   in time) -> picks
 *
 * A reply of any length costs one batch: picks of all samples would be 4 bytes each, as long as a
 * slow client reads. Each batch looks through the views that have samples of its time: one or two,
 * for chunks follow each other but for a round's disorder.
 *
 * Work       What looks at samples stops when work is used up, and goes on at the next call: a view
 *            at a time, which is 65,536 samples at most.
 * Ownership  window_open allocates, window_close gives back; it refers to the views, which are the
 *            caller's. All zeros is a closed one.
 * Errors     0 or -ISOSCOPE_NO_MEMORY (of more than WINDOW_VIEWS_MAX views, too).
 */
#ifndef ISOSCOPE_WINDOW_H
#define ISOSCOPE_WINDOW_H

#include "../snapshot.h"
#include "../store/names.h"
#include "../store/store.h"
#include "../work.h"

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
    int32_t tid;                       /* 0: whosever it is */
    struct snapshot_cursor since, end; /* what stands before since, and from end on, is left out */
};

/* Of a view: where the window's samples are, and how many. */
struct reach {
    uint32_t first, end;
    uint32_t count;
    uint32_t next; /* those before it are in batches that were before this one */
};

/* What a batch may take: behind the one before it, and before what is too late for it. */
struct limits {
    struct pick after, before;
    bool has_after, has_before;
    struct span span; /* of their times */
};

struct window {
    const struct store_view *views;
    uint32_t view_count;
    struct sieve sieve;
    uint64_t first_max;  /* of those that came, only so many; 0: all */
    uint64_t count_max;  /* of those that are left, only the oldest so many; 0: all */
    struct reach *reach; /* by view */
    uint32_t counted;    /* views */
    uint32_t total;      /* samples of all batches */
    bool cut;            /* more than count_max: what is later than last is left out */
    struct pick last;
    uint32_t first; /* how many there were before this batch */
    uint32_t count; /* of this batch */
    struct pick *picks;
    bool gathering;       /* the next batch: first and count are its own already */
    struct limits limits; /* of that */
    uint32_t gathered;    /* views */
};

struct span window_span(const struct snapshot_window *window);
/* Sources that have none of the window's user tags are not asked for any more. */
void window_choose_sources(struct store_view *views, uint32_t view_count,
                           const struct snapshot_window *window, const struct names *names);

int window_open(struct window *window, const struct store_view *views, uint32_t view_count,
                const struct snapshot_window *asked);
void window_close(struct window *window);
/* The first to be called. 1: call again. 0: all is counted, and it is before its first batch. Or as
 * store_load. */
int window_count(struct window *window, int64_t *work);
/* False: the view has nothing of the window. */
bool window_reaches(const struct window *window, uint32_t view);
/* Whether a sample of the view's reach is the window's. */
bool window_shows(const struct window *window, struct pick pick);
/* Back to before the first batch. */
void window_rewind(struct window *window);
/* The next batch. 1: call again. 0: it is there, or there was none, and count is 0. */
int window_gather(struct window *window, int64_t *work);

static inline int64_t pick_us(const struct store_view *views, struct pick pick)
{
    return chunk_sample_us(views[pick.view].chunk, pick.sample);
}

#endif

/*
 * counted.h - a window's samples for clients that count them: each as often as the periods of CPU
 * time it stands for, and no two of one moment.
 *
 *   pick -> counted_times -> told so often, over the time before its own
 *
 * A thread that ticks cost too much has few samples, of many periods each. What is left of a period
 * is its thread's next sample's, so that a thread is told as often as it used periods, in whatever
 * order its samples are asked about. In wall mode each sample is a look at a thread: told once.
 *
 * Ownership  counted_open allocates, counted_close gives back; it refers to the views, which are
 *            the caller's. All zeros is a closed one.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_COUNTED_H
#define ISOSCOPE_COUNTED_H

#include "window.h"

/* Samples that follow one another in a chunk and are of one moment. */
struct moment {
    uint32_t view;
    uint32_t first, end; /* as the chunk numbers them; 0, 0: none */
    int64_t before_us;
};

struct counted {
    const struct store_view *views;
    uint32_t view_count;
    uint32_t period_us;
    bool weighs;         /* false: each sample is told once */
    bool alike;          /* all programs have that period */
    int64_t **left_ns;   /* by view, then by source; what has no samples has none */
    int64_t earliest_us; /* of the window */
    struct moment moment;
    uint32_t looked_at; /* samples; the last of them is told */
    uint32_t first;     /* how often those before it are told */
    uint32_t times;     /* how often it is */
};

/* The one that the timers of the process (0: of all) can keep. alike: of all it is the same. */
uint32_t counted_period_us(struct profile *profile, uint64_t process_id, bool *alike);
int counted_open(struct counted *counted, const struct store_view *views, uint32_t view_count);
void counted_close(struct counted *counted);
/* Before the first of a view's samples is asked about. */
int counted_view(struct counted *counted, uint32_t view);
/* Back to before the first sample. */
void counted_rewind(struct counted *counted);

/* Each sample once, those of a thread one after the other. */
uint32_t counted_times(struct counted *counted, struct pick pick);
/* When it is told, the copy-th of so many times. */
int64_t counted_us(const struct counted *counted, int64_t time_us, uint32_t copy, uint32_t times);

/* Goes on to the sample that is told at cursor. 1: call again. */
int counted_seek(struct counted *counted, struct window *window, uint32_t cursor, int64_t *work);
/* The time of the sample that was found, apart from those of the same moment. */
int64_t counted_apart_us(struct counted *counted, const struct window *window);
/* The first one's, where the window has its first batch. */
int64_t counted_first_us(struct counted *counted, const struct window *window);

#endif

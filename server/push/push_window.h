/*
 * push_window.h - the profiles of one window after the other, packed, and the stalls that ended.
 *
 *   push_window_begin -> push_window_step, until it does not run -> client_pull -> gzip -> made
 *
 * Kinds without samples are not made. A turn's work is small, so that others are served meanwhile.
 *
 * Ownership  Borrows web and service: push_window_drop before they go, push_window_free then or later.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY. A profile that cannot be made is left out, and counted.
 */
#ifndef ISOSCOPE_PUSH_WINDOW_H
#define ISOSCOPE_PUSH_WINDOW_H

#include "push_request.h"

struct push_window;
struct service;
struct web;

struct push_window_plan {
    enum push_form form;
    bool allocations, locks, waits; /* are sampled; waits: wall mode */
    struct web *web;
    struct service *service;
    /* bytes: with gzip around them, lent. From push_window_step and push_window_stalls. */
    void (*made)(void *context, const struct push_profile *profile, const char *bytes,
                 size_t length);
    void *context;
};

int push_window_new(struct push_window **out, const struct push_window_plan *plan);
void push_window_free(struct push_window *window); /* NULL is fine, as for the next */
void push_window_drop(struct push_window *window); /* the profile that is being made */

/* What all of its profiles bear; to be added to. */
struct push_labels *push_window_labels(struct push_window *window);

struct push_span {
    int64_t from_us, until_us; /* of the service's clock; until is the next one's */
    int64_t epoch_us;          /* between that clock and 1970 */
    int64_t names_us;          /* are waited for */
};

void push_window_begin(struct push_window *window, const struct push_span *span);
bool push_window_runs(const struct push_window *window);
/* A turn's work, of at most one profile. Returns in how many milliseconds to go on. */
uint32_t push_window_step(struct push_window *window);
/* From now on names are waited for only so long. */
void push_window_hurry(struct push_window *window, int64_t names_us);

/* Those that have ended since the last time, as logs: of the span that began last. OTLP only. */
void push_window_stalls(struct push_window *window);
/* One that was seen then had not ended. */
bool push_window_stalls_wait(const struct push_window *window);

unsigned push_window_failed(const struct push_window *window); /* profiles */

#endif

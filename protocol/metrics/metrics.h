/*
 * metrics.h - all figures of a profile as Prometheus reads them: GET /TOKEN=/metrics.
 *
 *   processes, loops, frames -> process_sums, loop_sums, frame_sums (by name, bounded) -> metrics_text
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_METRICS_H
#define ISOSCOPE_METRICS_H

#include "metrics_text.h"

struct metrics;

struct metrics *metrics_new(void);          /* NULL: out of memory */
void metrics_free(struct metrics *metrics); /* NULL is fine */

struct metrics_of_service {
    const char *version;
    uint64_t cpu_ns; /* that the service itself has used; 0: not known */
    int64_t now_us;  /* the timeline's clock */
};

/* 0 or -ISOSCOPE_NO_MEMORY. */
int metrics_put(struct metrics *metrics, struct json_text *out, struct profile *profile,
                const struct metrics_of_service *service);

#endif

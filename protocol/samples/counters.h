/*
 * counters.h - the sampler's own books, for clients: what was asked, delivered and lost, by cause.
 *
 * Errors     NULL: out of memory.
 */
#ifndef ISOSCOPE_COUNTERS_H
#define ISOSCOPE_COUNTERS_H

#include "../isolates/isolates.h"

/* A new object: the sums over process, or over all isolates where it is NULL. */
json_t *counters_json(const struct isolates *isolates, const struct process_info *process);

/* What makes the ticks of a process, as a word; "none" before the first thread, and for NULL. */
const char *counters_timer(const struct process_info *process);
/* Why CPU-time timers tick alone, as a word; NULL: they do not. */
const char *counters_timer_reason(const struct process_info *process);

#endif

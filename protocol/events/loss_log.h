/*
 * loss_log.h - what the sampler lost, told as Logging events: DevTools shows them in its log.
 *
 * The first loss of a kind in a process is told at once. What follows is told after ten seconds,
 * then after twenty, and so on, each time twice as long, up to an hour: a loss that lasts an hour
 * is told nine times. When it has rested for as long, and for a minute at least, or the
 * process has ended, its sum is told. What belongs to the normal course (the ticks before the
 * unwind tables are there, a sleeper that woke up) is only counted, in _counters.
 *
 * Units      us: of the service's monotonic clock.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_LOSS_LOG_H
#define ISOSCOPE_LOSS_LOG_H

#include <stdint.h>

struct loss_log;
struct service;

struct loss_log *loss_log_new(void); /* NULL: out of memory */
/* Looks at all processes. Out of memory: told at a later call. */
void loss_log_look(struct service *service);
void loss_log_free(struct loss_log *log); /* NULL is fine */

#endif

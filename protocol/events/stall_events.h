/*
 * stall_events.h - stalls while they happen: Isoscope.Stall.Begin, .Update and .End on Extension, and the same as Logging
 * records, so that DevTools and editors show them. Isoscope.CpuHigh likewise.
 *
 *   profile's stalls, by change -> stall_events -> streams
 *
 * Told are those that the profile says are to be told (stall.told), whether somebody listens or not: both
 * streams have a history. Where a listener has no room for one, it waits, and all behind it.
 *
 * Threads    The service thread.
 * Errors     Out of memory: told at a later call.
 */
#ifndef ISOSCOPE_STALL_EVENTS_H
#define ISOSCOPE_STALL_EVENTS_H

struct service;
struct stall_events;

struct stall_events *stall_events_new(void);         /* NULL: out of memory */
void stall_events_free(struct stall_events *events); /* NULL is fine */

/* To be called often. */
void stall_events_poll(struct service *service);

#endif

/*
 * timeline_events.h - TimelineEvents: the timeline's events to who listens to the stream Timeline.
 *
 *   store -> timeline since the client's cursor -> one event for each process -> outbox
 *
 * A client hears of what comes from when it listens on, each once, in the order of arrival: a slice
 * when it is whole, as X. An event has at most TIMELINE_EVENTS_MAX of them; while
 * TIMELINE_BYTES_MAX wait for a client, it gets no more: who reads slowly is behind, and misses what
 * the store lets go of meanwhile.
 *
 * Threads    The service thread.
 * Errors     Out of memory: what could not be sent comes with a later event.
 */
#ifndef ISOSCOPE_TIMELINE_EVENTS_H
#define ISOSCOPE_TIMELINE_EVENTS_H

#include <stdbool.h>

struct client;

enum { TIMELINE_EVENTS_MAX = 1000, TIMELINE_BYTES_MAX = 1024 * 1024 };

/* The client listens from now on. */
void timeline_events_begin(struct client *client);
/* To be called often: sends what came, but not too often. */
void timeline_events_poll(struct client *client);
/* timeline_events_resume has something to do. */
bool timeline_events_works(const struct client *client);
/* Goes on, in another turn. */
void timeline_events_resume(struct client *client);

#endif

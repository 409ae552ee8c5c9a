/*
 * process_events.h - what a process that feeds needs for its events: its words, its streams, its tracks.
 *
 *   feed/feed_reader.h (events in parts) -> process_events (words, streams) -> events/event_store.h
 *
 * Ownership  The process owns it, until its feed has ended. It borrows store and streams.
 * Threads    Whoever holds the collector's round.
 * Errors     NULL, false or -ISOSCOPE_NO_MEMORY: no memory. An event that finds none is counted by the store.
 */
#ifndef ISOSCOPE_PROCESS_EVENTS_H
#define ISOSCOPE_PROCESS_EVENTS_H

#include "process.h"

#include "../events/streams.h"

/* Of events that the service tells on what it does. */
#define SERVICE_STREAM "Embedder"

/* NULL: no memory. */
struct process_events *process_events_of(struct process *process, struct event_store *store,
                                         struct streams *streams);
/* What stands open ends then. NULL is fine. */
void process_events_free(struct process_events *events, int64_t at_us);
void process_events_end_track(struct process_events *events, struct track *track, int64_t at_us);

/* Tells the program which of its streams are wanted, where that has changed. */
void process_events_want(struct process_events *events, struct process *process);
/* Stores what was read of a thread's ring. False: it could not be true. */
bool process_events_take(struct process_events *events, struct process *process,
                         struct process_slot *slot, const struct feed_thread_view *view,
                         const struct feed_event_parts *parts, int64_t possible_ns);
/* The service's own: an instant of tid 0. The process has its events. */
void process_events_tell(struct process *process, const char *stream, const char *name,
                         int64_t at_us, const struct event_argument *arguments, uint32_t count);
/* The service's own, of a thread; it may have ended, as the process may. */
void process_events_put(struct process *process, struct event_store *store, struct streams *streams,
                        int32_t tid, const char *thread_name, const struct event *event);

#endif

/*
 * streams.h - what clients subscribe to (enum stream_id), and the events they get for it. Most
 * streams stay silent: clients listen first and ask later.
 *
 * _Service and _Logging are the older names of Service and Logging; they have the same events.
 *
 * Errors     An event that no memory is left for closes its client: a hole would be silent.
 */
#ifndef ISOSCOPE_STREAMS_H
#define ISOSCOPE_STREAMS_H

#include "../generated/words.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct client;
struct isolate;
struct profile_symbols;
struct service;

/* To all clients that listen: VMFlagUpdate. */
void streams_flag_changed(struct service *service, const char *flag, const char *value);
/* _SymbolsAvailable, on Profiler: more names or lines are known than before. */
void streams_symbols_changed(struct service *service, const struct profile_symbols *symbols);
/* To be called often, behind streams_follow: _SamplesAvailable, on Profiler, when there are more
 * samples than before. */
void streams_samples_came(struct service *service);
/* _SamplesCleared, on Profiler. isolate: whose samples they were; it may be gone afterwards. */
void streams_samples_cleared(struct service *service, const struct isolate *isolate);
/* The same of the timeline's events: _TimelineAvailable. */
void streams_timeline_came(struct service *service);
/* They are forgotten: the same, with no events. */
void streams_timeline_cleared(struct service *service);
/* The same of stalls: _StallsAvailable. */
void streams_stalls_came(struct service *service);
void streams_stalls_cleared(struct service *service);
bool streams_heard(const struct service *service, enum stream_id stream); /* by anybody */
/* To be called when somebody begins or ends to listen. */
void streams_follow(struct service *service);
/* VMUpdate; TimelineStreamSubscriptionsUpdate, on Timeline. */
void streams_vm_renamed(struct service *service);
void streams_timeline_changed(struct service *service);
/* IsolateStart, IsolateRunnable, IsolateUpdate, IsolateExit; the last two say how the process
 * ended, where that is known. context: the service. */
void streams_isolate_changed(void *context, const char *kind, const struct isolate *isolate);

/* ServiceRegistered, or ServiceUnregistered where alias is NULL, to all but owner. */
void streams_service_changed(struct client *owner, const char *service, const char *alias);
/* ServiceRegistered, to one that listens from now on. */
void streams_service_told(struct client *listener, enum stream_id stream,
                          const struct client *owner, const char *service, const char *alias);
/* An Extension event that a client posts. data is held by reference. False: a listener has no room
 * for it, and nobody gets it. */
bool streams_posted(struct service *service, enum stream_id stream, const char *kind, json_t *data);
/* Have all others that listen room for a service of these names? */
bool streams_service_fits(const struct client *owner, const char *service, const char *alias);

/* Logging. Takes over both, which may be NULL when memory ran out before. */
void streams_logged(struct service *service, json_t *event, json_t *record);

/* WriteEvent, on Stdout or Stderr. */
void streams_wrote(struct service *service, enum stream_id stream, const void *bytes,
                   size_t length);

/* To a client that listens from now on, once: what the stream's history keeps. */
void streams_replay(struct client *client, enum stream_id stream);

#endif

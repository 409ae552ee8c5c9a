/*
 * streams.h - what clients subscribe to (enum stream_id), and the events they get for it. Most
 * streams stay silent: clients listen first and ask later.
 *
 * Errors     An event that no memory is left for closes its client: a hole would be silent.
 */
#ifndef ISOSCOPE_STREAMS_H
#define ISOSCOPE_STREAMS_H

#include "generated/words.h"

#include <jansson.h>
#include <stdint.h>

struct isolate;
struct profile_symbols;
struct service;

/* To all clients that listen: VMFlagUpdate. */
void streams_flag_changed(struct service *service, const char *flag, const char *value);
/* _SymbolsAvailable, on Profiler: more names or lines are known than before. */
void streams_symbols_changed(struct service *service, const struct profile_symbols *symbols);
/* To be called often: _SamplesAvailable, on Profiler, when there are more samples than before. */
void streams_samples_came(struct service *service);
/* To be called when somebody begins or ends to listen. */
void streams_follow(struct service *service);
/* {done, asked}: modules; NULL when out of memory. */
json_t *symbols_json(const struct profile_symbols *symbols);
/* VMUpdate; TimelineStreamSubscriptionsUpdate, on Timeline. */
void streams_vm_renamed(struct service *service);
void streams_timeline_changed(struct service *service);
/* IsolateStart, IsolateRunnable, IsolateUpdate, IsolateExit. context: the service. */
void streams_isolate_changed(void *context, const char *kind, const struct isolate *isolate);

/* An Isolate event's common members; NULL when out of memory. */
json_t *isolate_event(const char *kind, const struct isolate *isolate, int64_t timestamp_ms);

/* Names of those whose bit (1 << enum timeline_stream) is set. */
json_t *timeline_streams_json(uint32_t streams);

#endif

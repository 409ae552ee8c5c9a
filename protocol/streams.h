/*
 * streams.h - what clients subscribe to, and the events they get for it.
 *
 * Errors     An event that no memory is left for closes its client: a hole would be silent.
 */
#ifndef ISOSCOPE_STREAMS_H
#define ISOSCOPE_STREAMS_H

#include <jansson.h>

struct process_info;
struct profile_symbols;
struct service;

/* Names that streamListen takes. Most stay silent: clients listen first and ask later. */
#define STREAMS(X)                                                                                 \
    X(VM, "VM")                                                                                    \
    X(ISOLATE, "Isolate")                                                                          \
    X(DEBUG, "Debug")                                                                              \
    X(GC, "GC")                                                                                    \
    X(EXTENSION, "Extension")                                                                      \
    X(TIMELINE, "Timeline")                                                                        \
    X(LOGGING, "Logging")                                                                          \
    X(SERVICE, "Service")                                                                          \
    X(STDOUT, "Stdout")                                                                            \
    X(STDERR, "Stderr")                                                                            \
    X(PROFILER, "Profiler")                                                                        \
    X(HEAP_SNAPSHOT, "HeapSnapshot")                                                               \
    X(TIMER, "Timer")                                                                              \
    X(TOOL_EVENT, "ToolEvent")

#define STREAM_ENUM(name, wire) STREAM_##name,
enum stream { STREAMS(STREAM_ENUM) STREAM_COUNT };
#undef STREAM_ENUM

/* STREAM_COUNT when there is none of that name. */
enum stream stream_find(const char *name);

/* To all clients that listen: VMFlagUpdate. */
void streams_flag_changed(struct service *service, const char *flag, const char *value);
/* _SymbolsAvailable, on Profiler: more names or lines are known than before. */
void streams_symbols_changed(struct service *service, const struct profile_symbols *symbols);
/* {done, asked}: modules; NULL when out of memory. */
json_t *symbols_json(const struct profile_symbols *symbols);
/* IsolateStart, IsolateRunnable, IsolateExit. context: the service. */
void streams_isolate_changed(void *context, const char *kind, const struct process_info *process);

/* An Isolate event's common members; NULL when out of memory. */
json_t *isolate_event(const char *kind, const struct process_info *process, int64_t timestamp_ms);

#endif

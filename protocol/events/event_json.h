/*
 * event_json.h - what events have in common with each other, and with replies.
 *
 * Errors     NULL when out of memory.
 */
#ifndef ISOSCOPE_EVENT_JSON_H
#define ISOSCOPE_EVENT_JSON_H

#include <jansson.h>
#include <stdint.h>

struct isolate;
struct profile_symbols;

/* An Isolate event's common members. */
json_t *isolate_event(const char *kind, const struct isolate *isolate, int64_t timestamp_ms);

/* {done, asked}: modules. */
json_t *symbols_json(const struct profile_symbols *symbols);

#endif

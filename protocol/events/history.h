/*
 * history.h - the last events of the streams that clients want to read back: they come late and
 * ask what was said before.
 *
 * Units      bytes: of an event's text. An event's memory is some times as much.
 * Ownership  Holds its events by reference.
 * Errors     An event that no memory is left for is not kept.
 */
#ifndef ISOSCOPE_HISTORY_H
#define ISOSCOPE_HISTORY_H

#include "../generated/words.h"

#include <jansson.h>
#include <stddef.h>

struct histories;
struct history;
struct past_event;

enum {
    HISTORY_EVENTS_DEFAULT = 10000,
    HISTORY_EVENTS_MAX = 100000,
    /* Four of them, sent to one client at once, stay far below what may wait for it. */
    HISTORY_BYTES_MAX = 1024 * 1024,
};

struct histories *histories_new(void); /* NULL: out of memory */
/* Lends the stream's; NULL when none is kept of it. */
struct history *histories_find(struct histories *histories, enum stream_id stream);
/* Events of streams without a history are let go. */
void histories_add(struct histories *histories, enum stream_id stream, json_t *event);
size_t histories_log_limit(const struct histories *histories);
void histories_limit_log(struct histories *histories, size_t limit);
void histories_free(struct histories *histories); /* NULL is fine */

/* Oldest first; NULL before the first, and at the end. */
const struct past_event *history_next(const struct history *history, const struct past_event *past);
json_t *past_event_json(const struct past_event *past); /* lent */

#endif

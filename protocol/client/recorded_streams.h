/*
 * recorded_streams.h - the timeline's streams: which there are, which are recorded.
 *
 *   the VM's own names, programs' categories -> timeline.h -> here -> flags, Timeline events
 *
 * A saved session records nothing. What a client chooses there is remembered and told, as DevTools
 * chooses before it reads, and waits for the answer.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_RECORDED_STREAMS_H
#define ISOSCOPE_RECORDED_STREAMS_H

#include "client.h"

#include <jansson.h>

/* New lists of names; NULL: out of memory. */
json_t *recorded_streams_available(const struct service *service);
json_t *recorded_streams_now(const struct service *service);

/* Is it one of them, or "all"? NULL is none. */
bool recorded_streams_has(const struct service *service, const char *name);

/* names: a list of such. 0 or -ISOSCOPE_NO_MEMORY. */
int recorded_streams_choose(struct service *service, json_t *names);

#endif

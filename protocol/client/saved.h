/*
 * saved.h - a service over session files: what it tells of them, and what it refuses.
 *
 *   sampler/profile/saved.h -> here -> getVM's _saved; error 100 where a program would have to live
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_PROTOCOL_SAVED_H
#define ISOSCOPE_PROTOCOL_SAVED_H

#include "client.h"

#include <jansson.h>

/* The clocks of all that clients are told: of a saved session they stand. */
int64_t service_now_us(const struct service *service);
int64_t service_now_ms(const struct service *service);

/* Starts the service's clocks, and takes back what service_state gave when it was recorded. */
int service_begin(struct service *service); /* 0 or -ISOSCOPE_NO_MEMORY */

/* 0 where the profile is live. Else the handler's error: what: "its period cannot be changed". */
int refuse_saved(struct client *client, const char *what);

/* Takes over vm, and returns it with the files, if there are any. */
json_t *with_saved(json_t *vm, const struct service *service);

#endif

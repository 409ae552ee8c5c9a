/*
 * unsampled.h - programs that run without being sampled, for clients.
 *
 *   server/feeds/unsampled.h -> service_unsampled -> getVM's _unsampled
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_PROTOCOL_UNSAMPLED_H
#define ISOSCOPE_PROTOCOL_UNSAMPLED_H

#include "client.h"

/* The list that service_state had: what is none of it is passed over. */
void unsampled_take(struct service *service, const json_t *list);

/* Takes over vm, and returns it with them, if there are any. */
json_t *with_unsampled(json_t *vm, const struct service *service);

#endif

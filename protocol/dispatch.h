/*
 * dispatch.h - a request finds its handler, and its answer the client's outbox.
 *
 * A handler that has to wait (for symbol names, or because replies with samples fill the outbox
 * already) is asked again; meanwhile the client's other requests are answered, as in the VM.
 */
#ifndef ISOSCOPE_DISPATCH_H
#define ISOSCOPE_DISPATCH_H

#include "client.h"

enum {
    /* Each holds a snapshot: memory that no queue_bytes_max sees. */
    SAMPLES_QUEUED_MAX = 2,
    WAITING_MAX = 64,
};

/* Takes over request. */
void dispatch(struct client *client, struct request *request);
/* Asks the handlers of waiting requests again. */
void dispatch_waiting(struct client *client);
/* Forgets them. */
void dispatch_clear(struct client *client);

/* Answers what rpc_parse found to be broken. Takes over both. */
void dispatch_broken(struct client *client, struct request *request, struct rpc_failure *failure);

#endif

/*
 * dispatch.h - a request finds its handler, and its answer the client's outbox.
 *
 * A handler that has to wait (for symbol names, or because replies with samples fill the outbox
 * already) is asked again; meanwhile the client's other requests are answered, as in the VM. So is
 * one whose work is more than a turn's: it goes on in the client's next turn.
 */
#ifndef ISOSCOPE_DISPATCH_H
#define ISOSCOPE_DISPATCH_H

#include "client/client.h"

enum { WAITING_MAX = 64 };

/* Takes over request. */
void dispatch(struct client *client, struct request *request);
/* Asks the handlers of waiting requests again, as long as there is work left in the turn. */
void dispatch_waiting(struct client *client);
/* Some of them have more to do. */
bool dispatch_works(const struct client *client);
/* Asks the handler of the first of those. */
void dispatch_working(struct client *client);
/* Forgets them. */
void dispatch_clear(struct client *client);

/* Answers what rpc_parse found to be broken. Takes over both. */
void dispatch_broken(struct client *client, struct request *request, struct rpc_failure *failure);

#endif

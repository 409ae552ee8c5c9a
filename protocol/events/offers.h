/*
 * offers.h - methods that one client offers to the others.
 *
 *   A: registerService "echo" -> B hears ServiceRegistered, method "s0.echo"
 *   B: s0.echo, id "7" -> A gets echo, id "sr0" -> A's answer goes to B, id "7"
 *
 * Ids       Each client has a namespace of its own, "s0" and so on, and each call that it owes an
 *           answer to the smallest free number: "sr0" is used again once it was answered.
 * Ownership Everything belongs to the client that offers; offers_end ends it.
 * Errors    What the service answers goes to the caller as it is. When it goes away, its callers
 *           hear that it has disappeared. A call, an answer or an event that finds no room fails
 * for its sender: nobody is closed for what others send.
 */
#ifndef ISOSCOPE_OFFERS_H
#define ISOSCOPE_OFFERS_H

#include "../generated/words.h"

#include <jansson.h>
#include <stdbool.h>

struct client;
struct offers;
struct request;

enum {
    SERVICE_OFFERS_MAX = 1000, /* of one client */
    SERVICE_CALLS_MAX = 1000,  /* that one client owes an answer to */
    SERVICE_NAME_MAX = 1000,   /* bytes */
};

struct offers *offers_new(void); /* none; NULL: out of memory */
bool offers_any(const struct offers *offers);

/* registerService: 0 or a negative rpc_error (fail). The others hear of it. */
int offers_register(struct client *client, const char *method, const char *service,
                    const char *alias);
/* "s0.echo": a client's service is meant, whether there is one or not. */
bool offers_means(const char *method);
/* Passes the request on: 0, and the answer comes later, or a negative rpc_error. */
int offers_call(struct client *caller, const struct request *request);
/* A message without a method: false when it answers no call. */
bool offers_answer(struct client *client, json_t *message);

/* What the others offer, for a client that listens to the stream from now on. */
void offers_tell(struct client *client, enum stream_id stream);
/* The client is no longer in the service's list: who waits for it, or listens, is told. Frees its
 * offers. */
void offers_end(struct client *client);

#endif

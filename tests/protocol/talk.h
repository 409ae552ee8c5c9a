/*
 * talk.h - one client's side of a conversation with the service over the fake profile.
 *
 * Every text that comes is read strictly: it has to be one whole JSON object. Where the environment
 * names a file in ISOSCOPE_WIRE_LOG, all texts go there too, and tests/schemas holds them against
 * their schemas.
 */
#ifndef ISOSCOPE_TALK_H
#define ISOSCOPE_TALK_H

#include "fake_profile.h"
#include "protocol/service.h"

#include <jansson.h>

struct talk {
    struct profile profile;
    struct service *service;
    struct client *client;
};

void talk_begin(struct talk *talk);
/* With these options; profile, version and clocks are its own. */
/* saved: over session files. */
void talk_begin_as(struct talk *talk, const struct service_options *wish, bool saved);
/* Checks that no snapshot is left over. */
void talk_end(struct talk *talk);

void talk_send_as(struct client *client, const char *text);
void talk_send(struct talk *talk, const char *text);
void talk_send_json(struct talk *talk, const json_t *message);

/* As an HTTP GET asks. */
void talk_get(struct client *client, const char *method, const char *const *arguments,
              size_t count);

/* A client's next whole message, 0-terminated and new, taken in buffers of size; NULL: none. */
char *talk_receive_text(struct client *client, size_t size);
json_t *talk_receive(struct talk *talk);
/* Sends, and gives the result of the answer (which must be the next message, and no error). */
json_t *talk_ask(struct talk *talk, const char *method, const char *params);

/* The close code, 0 while the client may stay. */
int talk_closed(const struct talk *talk);

#endif

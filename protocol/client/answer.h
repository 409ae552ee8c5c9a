/*
 * answer.h - what a handler says to its client: a result, or why there is none.
 *
 * Ownership  Who called the handler owns what is in its reply.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_ANSWER_H
#define ISOSCOPE_ANSWER_H

#include "../rpc/rpc.h"

#include <jansson.h>

struct client;
struct reply_stream;

/* What a handler gives: a result or samples. */
struct reply {
    struct request *request; /* that it answers; its parameters are checked, and in a struct */
    json_t *result;
    struct reply_stream *samples;
};

/* Of a handler, besides 0 and a negative rpc_error. HANDLER_WAITS: ask again when the profile has
 * changed. HANDLER_WORKS: ask again in the client's next turn. */
enum { HANDLER_WAITS = 1, HANDLER_WORKS = 2 };

/* Gives result as the answer; NULL means that building it ran out of memory. */
int answer(struct client *client, struct reply *reply, json_t *result);
int answer_success(struct client *client, struct reply *reply);

/*
 * In a handler: return fail(client, RPC_INVALID_PARAMS, "%s: ...", name). Returns -error.
 * fail_routing does not echo the request; fail_plain has no details.
 */
__attribute__((format(printf, 3, 4))) int fail(struct client *client, enum rpc_error error,
                                               const char *format, ...);
__attribute__((format(printf, 3, 4))) int fail_routing(struct client *client, enum rpc_error error,
                                                       const char *format, ...);
int fail_plain(struct client *client, enum rpc_error error);

#endif

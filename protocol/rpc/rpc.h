/*
 * rpc.h - the JSON-RPC envelope: one message in, one reply or notification out, as text.
 *
 *   text -> rpc_parse -> struct request -> dispatch.h -> rpc_result_text, rpc_error_text -> text
 *
 * As the Dart VM: "jsonrpc" is never looked at, ids keep their type, null and missing params are
 * the same, what nobody knows is ignored. Unlike the VM, no message ends the service.
 *
 * Ownership  A request owns its message; texts belong to the caller, who frees them.
 * Errors     Texts are NULL when out of memory.
 */
#ifndef ISOSCOPE_RPC_H
#define ISOSCOPE_RPC_H

#include "../generated/errors.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_ENUM_ERROR(name, code, message) RPC_##name,
enum rpc_error { RPC_OK, RPC_ERRORS(RPC_ENUM_ERROR) RPC_ERROR_COUNT };
#undef RPC_ENUM_ERROR

struct rpc_failure {
    enum rpc_error error;
    char *details; /* NULL: none */
    bool routing;  /* it went wrong before the method was reached: the request is not echoed */
    const char *dds_uri; /* lent: who is there already; NULL: that is not what went wrong */
};

/* Begins a handler's own struct; its free frees all of it. */
struct unfinished {
    void (*free)(struct unfinished *unfinished);
};

struct request {
    json_t *message;
    json_t *id;                    /* borrowed from message; NULL: a notification */
    const char *method;            /* borrowed from message */
    json_t *params;                /* borrowed from message; NULL: none */
    json_t *kept;                  /* texts made of params, so that handlers can borrow them */
    bool drained;                  /* profile_sync was called for it */
    bool works;                    /* its handler goes on in the client's next turn */
    uint64_t polls;                /* of the service, when its handler began */
    struct unfinished *unfinished; /* what its handler has begun; NULL: nothing */
    struct request *next;          /* in a list of waiting ones */
};

enum rpc_parsed {
    RPC_PARSED_REQUEST,
    RPC_PARSED_REPLY,  /* out has its message */
    RPC_PARSED_BROKEN, /* out has its message, for rpc_error_text with the failure, and no more */
    RPC_PARSED_NO_JSON,
    RPC_PARSED_NO_MAP,
    RPC_PARSED_NO_MEMORY,
};

/* why: a sentence for NO_JSON. failure->details is new. */
enum rpc_parsed rpc_parse(struct request **out, const char *text, size_t length,
                          struct rpc_failure *failure, char why[JSON_ERROR_TEXT_LENGTH]);
void request_free(struct request *request); /* NULL is fine */

/* Frees what its handler has begun, if anything. */
void request_finish(struct request *request);

/* The parameter as text (values.h), lent; NULL when it was not given. */
const char *request_param(struct request *request, const char *name);

/* {"jsonrpc":"2.0","id":...,"result": - all but the result and the last brace. */
char *rpc_envelope_text(const struct request *request);
char *rpc_result_text(const struct request *request, const json_t *result);
char *rpc_error_text(const struct request *request, const struct rpc_failure *failure);
/* An error that is no answer of a handler's; details may be NULL. */
char *rpc_failure_text(json_t *id, enum rpc_error error, const char *details);
/* These take over their JSON, which may be NULL when memory ran out before. */
char *rpc_notification_text(const char *stream, json_t *event);
char *rpc_message_text(json_t *message);

#endif

/*
 * What machine code the functions of samples have.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../objects/code_writer.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

/* What is asked of the profile, until it is there. */
struct half_listed {
    struct unfinished unfinished; /* the first: this is one */
    struct code_request *code;
};

static void free_half_listed(struct unfinished *unfinished)
{
    struct half_listed *half = (struct half_listed *)unfinished;

    profile_code_free(half->code);
    free(half);
}

/* 0, or a negative rpc_error. */
static int ask(struct client *client, struct request *request,
               const struct private_get_disassembly_params *params)
{
    struct half_listed *half = calloc(1, sizeof(*half));
    int error;

    if (!half)
        return samples_reply_result(client, -ISOSCOPE_NO_MEMORY);
    half->unfinished.free = free_half_listed;
    request->unfinished = &half->unfinished;
    error = profile_code_ask(&half->code, client->service->options.profile, params->function_id,
                             (uint64_t)params->offset);
    if (error == -ISOSCOPE_NOT_FOUND)
        return fail(client, RPC_INVALID_PARAMS,
                    "_getDisassembly: invalid 'functionId' parameter: %s", params->function_id);
    return samples_reply_result(client, error);
}

int handle_private_get_disassembly(struct client *client,
                                   const struct private_get_disassembly_params *params,
                                   struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct request *request = reply->request;
    struct code_request *code;
    struct half_listed *half;
    int rc = samples_reply_begin_empty(client, reply, &begun);

    if (rc || (!request->unfinished && (rc = ask(client, request, params)) < 0))
        return rc;
    half = (struct half_listed *)request->unfinished;
    if (!profile_code_listing(half->code))
        return HANDLER_WAITS;
    code = half->code;
    half->code = NULL;
    return samples_reply_result(client, code_writer_new(&reply->samples, code, begun.envelope));
}

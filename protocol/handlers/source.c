/*
 * What samples say of source files.
 */
#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../objects/source_report.h"

#include <stdlib.h>

/* 0, or a negative rpc_error. */
static int read_kinds(struct client *client, const json_t *reports, unsigned *kinds)
{
    size_t i;
    json_t *report;

    json_array_foreach(reports, i, report)
    {
        const char *word = json_string_value(report);
        unsigned kind = word ? source_report_kind(word) : 0;

        if (!kind)
            return fail(client, RPC_INVALID_PARAMS,
                        "getSourceReport: invalid 'reports' parameter: %s",
                        word ? word : "not a text");
        *kinds |= kind;
    }
    return 0;
}

/* What a report is made of, until it is answered. */
struct half_reported {
    struct unfinished unfinished; /* the first: this is one */
    struct snapshot *snapshot;
    struct scripts scripts;
    struct source_report_wish wish;
    struct source_report *report;
};

static void free_half_reported(struct unfinished *unfinished)
{
    struct half_reported *half = (struct half_reported *)unfinished;

    source_report_free(half->report);
    scripts_free(&half->scripts);
    snapshot_free(half->snapshot);
    free(half);
}

/* Takes over the snapshot. Scripts are known when names are: behind the wait for them. */
static int begin_report(struct client *client, struct request *request, struct snapshot *snapshot,
                        const struct source_report_wish *wish, const char *script_id)
{
    struct half_reported *half = calloc(1, sizeof(*half));

    if (!half) {
        snapshot_free(snapshot);
        return fail(client, RPC_INTERNAL_ERROR, "out of memory");
    }
    *half = (struct half_reported){ .unfinished.free = free_half_reported,
                                    .snapshot = snapshot,
                                    .wish = *wish };
    request->unfinished = &half->unfinished;
    if (scripts_take(&half->scripts, client->service->options.profile, 0) < 0)
        return fail(client, RPC_INTERNAL_ERROR, "out of memory");
    if (script_id && !(half->wish.only = scripts_find(&half->scripts, script_id)))
        return fail(client, RPC_INVALID_PARAMS, "getSourceReport: invalid 'scriptId' parameter: %s",
                    script_id);
    return source_report_new(&half->report, snapshot, &half->scripts, &half->wish) < 0
               ? fail(client, RPC_INTERNAL_ERROR, "out of memory")
               : 0;
}

static int go_on(struct client *client, struct reply *reply)
{
    struct half_reported *half = (struct half_reported *)reply->request->unfinished;
    int rc = source_report_step(half->report, &client->service->work);

    if (rc > 0)
        return HANDLER_WORKS;
    return answer(client, reply, rc < 0 ? NULL : source_report_json(half->report));
}

static bool has_begun(const struct request *request)
{
    return request->unfinished && request->unfinished->free == free_half_reported;
}

int handle_get_source_report(struct client *client, const struct get_source_report_params *params,
                             struct reply *reply)
{
    const struct isolate *isolate = params->isolate;
    struct snapshot_window window = { .process_id = isolate->process->id, .tid = isolate->tid };
    struct source_report_wish wish = {
        .first_line = params->token_pos,
        .last_line = params->end_token_pos ? params->end_token_pos : UINT32_MAX,
    };
    struct snapshot *snapshot;
    int rc;

    if (has_begun(reply->request))
        return go_on(client, reply);
    if ((rc = read_kinds(client, params->reports, &wish.kinds)) < 0 ||
        (rc = samples_reply_take(client, reply, &window, &snapshot)) ||
        (rc = begin_report(client, reply->request, snapshot, &wish, params->script_id)) < 0)
        return rc;
    return go_on(client, reply);
}

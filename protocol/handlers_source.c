/*
 * What samples say of source files.
 */
#include "client.h"
#include "handlers.h"
#include "samples_reply.h"
#include "source_report.h"
#include "../sampler/feed/cleanup.h"

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

/* Scripts are known when names are: behind the wait for them. */
static int answer_report(struct client *client, struct reply *reply, struct snapshot *snapshot,
                         struct source_report_wish *wish, const char *script_id)
{
    CLEANUP(scripts_free) struct scripts scripts = { 0 };

    if (scripts_take(&scripts, client->service->options.profile) < 0)
        return answer(client, reply, NULL);
    if (script_id && !(wish->only = scripts_find(&scripts, script_id)))
        return fail(client, RPC_INVALID_PARAMS, "getSourceReport: invalid 'scriptId' parameter: %s",
                    script_id);
    return answer(client, reply, source_report_json(snapshot, &scripts, wish));
}

int handle_get_source_report(struct client *client, const struct get_source_report_params *params,
                             struct reply *reply)
{
    CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
    const struct isolate *isolate = params->isolate;
    struct snapshot_window window = { .process_id = isolate->process->id, .tid = isolate->tid };
    struct source_report_wish wish = {
        .first_line = params->token_pos,
        .last_line = params->end_token_pos ? params->end_token_pos : UINT32_MAX,
    };
    int rc = read_kinds(client, params->reports, &wish.kinds);

    if (rc < 0)
        return rc;
    rc = snapshot_take(&snapshot, client->service->options.profile, &window);
    if (rc < 0)
        return samples_reply_fail(client, rc);
    return answer_report(client, reply, snapshot, &wish, params->script_id);
}

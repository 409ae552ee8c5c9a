#include "table_reply.h"

#include "handlers.h"
#include "../client/samples_reply.h"
#include "../samples/table_cursor.h"
#include "../samples/table_writer.h"
#include "../../sampler/feed/cleanup.h"

enum sample_kind samples_kind_of(enum samples_kind kind)
{
    static const enum sample_kind kinds[] = {
        [SAMPLES_KIND_TIME] = SAMPLES_OF_TIME,  [SAMPLES_KIND_ALLOC] = SAMPLES_OF_ALLOCATIONS,
        [SAMPLES_KIND_LIVE] = SAMPLES_OF_LIVE,  [SAMPLES_KIND_LOCK] = SAMPLES_OF_LOCKS,
        [SAMPLES_KIND_WAIT] = SAMPLES_OF_WAITS, [SAMPLES_KIND_FAULT] = SAMPLES_OF_FAULTS
    };

    return kinds[kind];
}

int table_reply(struct client *client, const struct private_get_cpu_samples_params *params,
                struct reply *reply)
{
    struct profile *profile = client->service->options.profile;
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct follow_window window = { .kind = samples_kind_of(params->kind),
                                    .from_us = params->timestamp_us,
                                    .count_max = (uint64_t)params->count,
                                    .partial_names_ok =
                                        params->symbols == SYMBOLS_WANTED_AVAILABLE };
    struct table_options options;
    int rc;

    if (params->cursor && !table_cursor_parse(params->cursor, &window.cursor))
        return fail(client, RPC_INVALID_PARAMS,
                    "cursor: expected what an earlier reply gave as \"next\"");
    rc = samples_reply_begin_follow(client, reply, params->isolate, &window, &begun);
    if (rc)
        return rc;
    options = (struct table_options){ .envelope = begun.envelope,
                                      .counters = begun.counters,
                                      .tells_progress = window.partial_names_ok,
                                      .symbols = profile_symbols(profile),
                                      .kind = window.kind,
                                      .pid = begun.pid,
                                      .period_us = profile_settings(profile).period_us,
                                      .depth_max = profile_settings(profile).depth_max };
    return samples_reply_result(client, table_writer_new(&reply->samples, begun.follow, &options));
}

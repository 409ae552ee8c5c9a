#include "table_reply.h"

#include "samples_reply.h"
#include "table_mark.h"
#include "table_writer.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

/* Takes over live. */
static int reply_live(struct client *client, struct reply *reply, struct live *live,
                      const struct isolate *isolate, bool available)
{
    struct profile *profile = client->service->options.profile;
    const struct process_info *process = isolate ? isolate->process : NULL;
    CLEANUP(samples_reply_free_text) char *counters = samples_reply_counters(client, process);
    CLEANUP(samples_reply_free_text) char *envelope = samples_reply_envelope(client);
    struct table_options options = { .envelope = envelope,
                                     .counters = counters,
                                     .tells_progress = available,
                                     .symbols = profile_symbols(profile),
                                     .pid = samples_reply_pid(client, process),
                                     .period_us = profile_period_us(profile),
                                     .depth_max = profile_depth_max(profile) };

    if (!counters || !envelope) {
        live_free(live);
        return samples_reply_fail(client, -ISOSCOPE_NO_MEMORY);
    }
    if (table_writer_new(&reply->samples, live, &options) < 0)
        return samples_reply_fail(client, -ISOSCOPE_NO_MEMORY);
    return 0;
}

struct half_read {
    struct unfinished unfinished; /* the first: this is one */
    struct live *live;
};

static void free_half_read(struct unfinished *unfinished)
{
    struct half_read *half = (struct half_read *)unfinished;

    live_free(half->live);
    free(half);
}

static int begin_live(struct client *client, const struct live_window *window)
{
    struct half_read *half = calloc(1, sizeof(*half));

    if (!half)
        return -ISOSCOPE_NO_MEMORY;
    half->unfinished.free = free_half_read;
    client->request->unfinished = &half->unfinished;
    return live_begin(&half->live, client->service->options.profile, window);
}

/* As samples_reply_take. */
static int take_live(struct client *client, const struct live_window *window, struct live **out)
{
    struct request *request = client->request;
    struct half_read *half;
    int rc = 0;

    if (!request->unfinished) {
        if (samples_reply_waits(client))
            return HANDLER_WAITS;
        rc = begin_live(client, window);
    }
    half = (struct half_read *)request->unfinished;
    if (!rc)
        rc = live_step(half->live, &client->service->work);
    if (rc > 0)
        return HANDLER_WORKS;
    if (!rc) {
        *out = half->live;
        half->live = NULL;
    }
    request_finish(request);
    return rc < 0 ? samples_reply_fail(client, rc) : 0;
}

int table_reply(struct client *client, const struct private_get_cpu_samples_params *params,
                struct reply *reply)
{
    const struct isolate *isolate = params->isolate;
    struct live_window window = { .process_id = isolate ? isolate->process->id : 0,
                                  .tid = isolate ? isolate->tid : 0,
                                  .from_us = params->timestamp_us,
                                  .count_max = (uint64_t)params->count,
                                  .available = params->symbols == SYMBOLS_WANTED_AVAILABLE };
    struct live *live = NULL;
    int rc;

    if (params->cursor && !table_mark_parse(params->cursor, &window.mark))
        return fail(client, RPC_INVALID_PARAMS,
                    "cursor: expected what an earlier reply gave as \"next\"");
    rc = take_live(client, &window, &live);
    return rc ? rc : reply_live(client, reply, live, isolate, window.available);
}

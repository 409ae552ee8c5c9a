#include "samples_reply.h"

#include "../samples/counters.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/saved.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each holds a snapshot: memory that no queue_bytes_max sees. */
enum { SAMPLES_QUEUED_MAX = 2 };

/* How many waiting requests hold what they have begun. */
static unsigned count_unfinished(const struct client *client)
{
    unsigned count = 0;

    for (const struct request *request = client->waiting; request; request = request->next)
        count += request->unfinished != NULL;
    return count;
}

static bool has_room(const struct client *client)
{
    return client->outbox.samples + count_unfinished(client) < SAMPLES_QUEUED_MAX;
}

/* What is taken: by one of the two. */
struct windows {
    const struct snapshot_window *snapshot;
    const struct follow_window *follow;
};

struct half_taken {
    struct unfinished unfinished; /* the first: this is one */
    struct snapshot *snapshot;    /* or follow */
    struct follow *follow;
};

static void free_half_taken(struct unfinished *unfinished)
{
    struct half_taken *half = (struct half_taken *)unfinished;

    snapshot_free(half->snapshot);
    follow_free(half->follow);
    free(half);
}

static int begin_samples(struct client *client, struct request *request,
                         const struct windows *windows)
{
    struct profile *profile = client->service->options.profile;
    struct half_taken *half = calloc(1, sizeof(*half));

    if (!half)
        return -ISOSCOPE_NO_MEMORY;
    half->unfinished.free = free_half_taken;
    request->unfinished = &half->unfinished;
    return windows->follow ? follow_begin(&half->follow, profile, windows->follow)
                           : snapshot_begin(&half->snapshot, profile, windows->snapshot);
}

static int step_half_taken(struct half_taken *half, int64_t *work)
{
    return half->follow ? follow_step(half->follow, work) : snapshot_step(half->snapshot, work);
}

static void hand_over(struct half_taken *half, struct samples_reply *out)
{
    out->snapshot = half->snapshot;
    out->follow = half->follow;
    half->snapshot = NULL;
    half->follow = NULL;
}

/* In as many turns as it needs. 0, or what the handler is to return. */
static int take_samples(struct client *client, struct request *request,
                        const struct windows *windows, struct samples_reply *out)
{
    struct half_taken *half;
    int rc = 0;

    if (!request->unfinished) {
        if (!has_room(client))
            return HANDLER_WAITS;
        rc = begin_samples(client, request, windows);
    }
    half = (struct half_taken *)request->unfinished;
    if (!rc)
        rc = step_half_taken(half, &client->service->work);
    if (rc > 0)
        return HANDLER_WORKS;
    if (!rc)
        hand_over(half, out);
    request_finish(request);
    return samples_reply_result(client, rc);
}

static int32_t pid_of(const struct isolates *isolates, const struct process_info *process)
{
    const struct process_info *shown = process ? process : isolates_main(isolates);

    return shown ? shown->pid : 0;
}

/* A notification is not answered, but its text is composed all the same. */
static int add_texts(struct client *client, const struct request *request,
                     const struct isolate *isolate, struct samples_reply *out)
{
    const struct isolates *isolates = &client->service->isolates;
    json_auto_t *counters = NULL;

    out->process = isolate ? isolate->process : NULL;
    out->pid = pid_of(isolates, out->process);
    counters = counters_json(isolates, out->process);
    out->counters = json_dumps(counters, JSON_COMPACT);
    out->envelope = request->id ? rpc_envelope_text(request) : strdup("");
    if (out->counters && out->envelope)
        return 0;
    snapshot_free(out->snapshot);
    follow_free(out->follow);
    return samples_reply_result(client, -ISOSCOPE_NO_MEMORY);
}

static int begin(struct client *client, struct request *request, const struct isolate *isolate,
                 const struct windows *windows, struct samples_reply *out)
{
    int rc = take_samples(client, request, windows, out);

    return rc ? rc : add_texts(client, request, isolate, out);
}

int samples_reply_begin(struct client *client, struct reply *reply, const struct isolate *isolate,
                        struct snapshot_window *window, struct samples_reply *out)
{
    window->process_id = isolate ? isolate->process->id : 0;
    window->tid = isolate ? isolate->tid : 0;
    return begin(client, reply->request, isolate, &(struct windows){ .snapshot = window }, out);
}

int samples_reply_begin_follow(struct client *client, struct reply *reply,
                               const struct isolate *isolate, struct follow_window *window,
                               struct samples_reply *out)
{
    window->process_id = isolate ? isolate->process->id : 0;
    window->tid = isolate ? isolate->tid : 0;
    return begin(client, reply->request, isolate, &(struct windows){ .follow = window }, out);
}

int samples_reply_begin_empty(struct client *client, struct reply *reply, struct samples_reply *out)
{
    return has_room(client) ? add_texts(client, reply->request, NULL, out) : HANDLER_WAITS;
}

void samples_reply_end(struct samples_reply *begun)
{
    free(begun->envelope);
    free(begun->counters);
}

int samples_reply_take(struct client *client, struct reply *reply,
                       const struct snapshot_window *window, struct snapshot **out)
{
    const struct windows windows = { .snapshot = window };
    struct samples_reply taken = { 0 };
    int rc = take_samples(client, reply->request, &windows, &taken);

    if (!rc)
        *out = taken.snapshot;
    return rc;
}

int samples_reply_enabled(struct client *client)
{
    return client->service->saved || profile_settings(client->service->options.profile).enabled
               ? 0
               : fail(client, RPC_FEATURE_DISABLED, "Profiler is disabled.");
}

/* Where, as `isoscope serve` says it of what it sees at once. */
static int fail_damaged(struct client *client)
{
    struct profile *profile = client->service->options.profile;
    struct saved_problem problem = { 0 };
    struct saved_session *sessions =
        calloc(saved_sessions(profile, NULL, 0) + 1, sizeof(*sessions));
    const char *path = "a session file";

    if (sessions && saved_damage(profile, &problem) &&
        saved_sessions(profile, sessions, problem.file + 1) > problem.file)
        path = sessions[problem.file].path;
    free(sessions);
    return fail(client, RPC_INTERNAL_ERROR, "%s is damaged: byte %" PRIu64 ": %s", path,
                problem.position, problem.reason);
}

int samples_reply_result(struct client *client, int error)
{
    if (error >= 0)
        return 0;
    if (error == -ISOSCOPE_PENDING)
        return HANDLER_WAITS;
    if (error == -ISOSCOPE_DAMAGED)
        return fail_damaged(client);
    return fail(client, RPC_INTERNAL_ERROR, "%s",
                error == -ISOSCOPE_NOT_FOUND ? "no such process" : "out of memory");
}

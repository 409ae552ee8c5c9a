#include "saved.h"

#include "answer.h"
#include "unsampled.h"
#include "../text/any_text.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define TARGET_CPU "x64"
#elif defined(__aarch64__)
#define TARGET_CPU "arm64"
#else
#define TARGET_CPU "unknown"
#endif

enum { US_PER_MS = 1000, APART_MS_MAX = 60 * 1000 };

int64_t service_now_us(const struct service *service)
{
    return service->saved ? saved_now_us(service->options.profile)
                          : service->options.monotonic_us();
}

int64_t service_now_ms(const struct service *service)
{
    return service->saved ? service_epoch_ms(service, service_now_us(service))
                          : service->options.epoch_ms();
}

/* What a file has of it came from outside: any value may be there. */
static void take_state(struct service *service, const char *text)
{
    json_auto_t *state = text ? json_loads(text, 0, NULL) : NULL;
    const char *target_cpu = json_string_value(json_object_get(state, "targetCPU"));

    if (target_cpu &&
        target_cpu[strspn(target_cpu, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0')
        snprintf(service->target_cpu, sizeof(service->target_cpu), "%s", target_cpu);
    unsampled_take(service, json_object_get(state, "unsampled"));
}

static struct saved_session *sessions_of(const struct service *service, size_t *count)
{
    struct saved_session *sessions;

    *count = saved_sessions(service->options.profile, NULL, 0);
    sessions = calloc(*count + 1, sizeof(*sessions));
    if (sessions)
        saved_sessions(service->options.profile, sessions, *count);
    return sessions;
}

/* Whose times are those of the profile. */
static const struct saved_session *first_of(const struct saved_session *sessions, size_t count)
{
    const struct saved_session *first = sessions;

    for (size_t i = 1; i < count; i++)
        if (sessions[i].start_us < first->start_us)
            first = &sessions[i];
    return first;
}

/* Clocks drift, and the service that recorded has read them a moment earlier: as it told times, so
 * they are told again. */
static void begin_clock(struct service *service, const struct saved_session *first)
{
    json_auto_t *state = first->state ? json_loads(first->state, 0, NULL) : NULL;
    const json_t *started = json_object_get(state, "startTime");
    const json_t *epoch = json_object_get(state, "epochMillis");
    int64_t start_ms = first->wall_start_us / US_PER_MS;
    int64_t epoch_ms = start_ms - first->start_us / US_PER_MS;

    service->start_ms = start_ms;
    service->monotonic_to_epoch_ms = epoch_ms;
    if (json_is_integer(started) && llabs(json_integer_value(started) - start_ms) < APART_MS_MAX)
        service->start_ms = json_integer_value(started);
    if (json_is_integer(epoch) && llabs(json_integer_value(epoch) - epoch_ms) < APART_MS_MAX)
        service->monotonic_to_epoch_ms = json_integer_value(epoch);
}

static int begin_saved(struct service *service)
{
    size_t count;
    struct saved_session *sessions = sessions_of(service, &count);

    if (!sessions)
        return -ISOSCOPE_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        take_state(service, sessions[i].state);
    begin_clock(service, first_of(sessions, count));
    free(sessions);
    return 0;
}

int service_begin(struct service *service)
{
    const struct service_options *options = &service->options;

    snprintf(service->target_cpu, sizeof(service->target_cpu), TARGET_CPU);
    service->saved = profile_is_saved(options->profile);
    if (service->saved)
        return begin_saved(service);
    service->start_ms = options->epoch_ms();
    service->monotonic_to_epoch_ms = service->start_ms - options->monotonic_us() / US_PER_MS;
    return 0;
}

char *service_state(const struct service *service)
{
    json_auto_t *state =
        json_pack("{s:s, s:I, s:I, s:O*}", "targetCPU", service->target_cpu, "startTime",
                  (json_int_t)service->start_ms, "epochMillis",
                  (json_int_t)service->monotonic_to_epoch_ms, "unsampled", service->unsampled);

    return state ? json_dumps(state, JSON_COMPACT) : NULL;
}

int refuse_saved(struct client *client, const char *what)
{
    return client->service->saved
               ? fail(client, RPC_FEATURE_DISABLED, "this is a saved session: %s", what)
               : 0;
}

/* As a shell would show it, but for what a shell would have to quote. NULL: not known. */
static json_t *command_line(const char *const *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = command && command[0] ? open_memstream(&text, &size) : NULL;
    json_t *line;

    if (!out)
        return NULL;
    for (size_t i = 0; command[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", command[i]);
    line = fclose(out) == 0 ? any_text(text) : NULL;
    free(text);
    return line;
}

static json_t *file_json(const struct saved_session *session)
{
    const char *slash = strrchr(session->path, '/');

    return json_pack("{s:o, s:o*, s:o, s:o, s:I, s:I, s:I, s:b, s:I}", "name",
                     any_text(slash ? slash + 1 : session->path), "command",
                     command_line(session->command), "host", any_text(session->host), "producer",
                     any_text(session->producer), "startTime",
                     (json_int_t)(session->wall_start_us / US_PER_MS), "startMicros",
                     (json_int_t)session->start_us, "endMicros", (json_int_t)session->end_us,
                     "closed", session->closed, "missed", (json_int_t)session->missed);
}

json_t *with_saved(json_t *vm, const struct service *service)
{
    size_t count;
    struct saved_session *sessions;
    json_t *files;

    if (!vm || !service->saved)
        return vm;
    sessions = sessions_of(service, &count);
    files = json_array();
    for (size_t i = 0; sessions && i < count; i++)
        json_array_append_new(files, file_json(&sessions[i]));
    free(sessions);
    json_object_set_new(vm, "_saved", files);
    return vm;
}

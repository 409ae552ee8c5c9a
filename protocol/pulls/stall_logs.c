/* Stalls as logs, for who pushes: service.h. */
#include "pulls.h"

#include "../client/client.h"
#include "../pprof/otlp_attributes.h"
#include "../pprof/otlp_fields.h"
#include "../stalls/stall_text.h"
#include "../stalls/stall_words.h"
#include "../text/protobuf.h"
#include "../../sampler/profile/stall_marks.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SEVERITY_WARN = 13, SEVERITY_ERROR = 17, NS_PER_MS = 1000000 };

struct stall_logs {
    uint64_t change; /* up to it all was looked at */
    struct stall_marks states;
    uint32_t ongoing;
};
enum { UNLOGGED, ONGOING, LOGGED }; /* a stall's mark */

struct stall_logs *stall_logs_new(void)
{
    return calloc(1, sizeof(struct stall_logs));
}

void stall_logs_free(struct stall_logs *logs)
{
    if (logs)
        stall_marks_free(&logs->states);
    free(logs);
}

/* Is it to be logged now? More may become known of one that has ended. */
static bool is_new(struct stall_logs *logs, const struct stall *stall)
{
    uint8_t *state = stall_marks_of(&logs->states, stall->number);

    if (!state || *state == LOGGED)
        return false;
    logs->ongoing += stall->ongoing - (*state == ONGOING);
    *state = stall->ongoing ? ONGOING : stall->told ? LOGGED : UNLOGGED;
    return *state == LOGGED;
}

static void put_text(struct json_text *out, const char *key, const char *text)
{
    if (text && text[0])
        otlp_key_value(out, OTLP_LOG_ATTRIBUTES, key, text, 0);
}

static void put_number(struct json_text *out, const char *key, uint64_t number)
{
    if (number)
        otlp_key_value(out, OTLP_LOG_ATTRIBUTES, key, NULL, number);
}

static void put_attributes(struct json_text *out, const struct stall *stall,
                           const struct process_info *process)
{
    char *stack = stall_stack_text(stall);

    put_text(out, "isoscope.stall.loop", stall->name);
    put_text(out, "isoscope.stall.level", stall_level_words[stall->level]);
    put_text(out, "isoscope.stall.cause", stall_cause_words[stall->cause]);
    put_number(out, "isoscope.stall.duration_ms", (uint64_t)stall->duration_ns.min / NS_PER_MS);
    put_text(out, "isoscope.tag", stall->tag);
    put_text(out, "process.executable.name", process->name);
    put_number(out, "process.pid", (uint64_t)process->pid);
    put_text(out, "thread.name", stall->thread_name);
    put_number(out, "thread.id", (uint64_t)stall->tid);
    put_text(out, "code.function.name", stall->culprit.function);
    put_text(out, "code.file.path", stall->culprit.file);
    put_number(out, "code.line.number", stall->culprit.line);
    put_text(out, "code.stacktrace", stack);
    free(stack);
}

static void put_record(struct json_text *out, const struct stall *stall,
                       const struct process_info *process, int64_t epoch_us)
{
    uint64_t epoch_ns = (uint64_t)epoch_us * 1000;
    bool severe = stall->level >= STALL_LEVEL_HANG;
    char message[STALL_TEXT_MAX];
    size_t record = protobuf_begin(out, OTLP_SCOPE_LOGS_RECORDS), body;

    stall_message(message, stall, process->name, process->pid);
    protobuf_fixed(out, OTLP_LOG_TIME_UNIX_NANO, epoch_ns + (uint64_t)stall->start_ns.min);
    protobuf_uint(out, OTLP_LOG_SEVERITY_NUMBER, severe ? SEVERITY_ERROR : SEVERITY_WARN);
    protobuf_string(out, OTLP_LOG_SEVERITY_TEXT, severe ? "ERROR" : "WARN");
    body = protobuf_begin(out, OTLP_LOG_BODY);
    protobuf_string(out, OTLP_ANY_STRING, message);
    protobuf_end(out, body);
    put_attributes(out, stall, process);
    protobuf_fixed(out, OTLP_LOG_OBSERVED_TIME_UNIX_NANO,
                   epoch_ns + (uint64_t)(stall->start_ns.min + stall->duration_ns.min));
    protobuf_string(out, OTLP_LOG_EVENT_NAME, "isoscope.stall");
    protobuf_end(out, record);
}

static void put_head(struct json_text *out, const struct service *service,
                     const struct pull_otlp *otlp, size_t begun[2])
{
    size_t message;

    begun[0] = protobuf_begin(out, OTLP_LOGS_RESOURCE_LOGS);
    message = protobuf_begin(out, OTLP_RESOURCE_LOGS_RESOURCE);
    for (size_t i = 0; i < otlp->resource_count; i++)
        otlp_key_value(out, OTLP_RESOURCE_ATTRIBUTES, otlp->resource[i].name,
                       otlp->resource[i].text, otlp->resource[i].number);
    protobuf_end(out, message);
    begun[1] = protobuf_begin(out, OTLP_RESOURCE_LOGS_SCOPE_LOGS);
    message = protobuf_begin(out, OTLP_SCOPE_LOGS_SCOPE);
    protobuf_string(out, OTLP_SCOPE_NAME, "isoscope");
    protobuf_string(out, OTLP_SCOPE_VERSION, service->options.version);
    protobuf_end(out, message);
}

bool stall_logs_wait(const struct stall_logs *logs)
{
    return logs->ongoing != 0;
}

size_t stall_logs_take(struct stall_logs *logs, struct service *service,
                       const struct pull_otlp *otlp, int64_t epoch_us, struct json_text *out)
{
    const struct stalls_window window = { .since = logs->change };
    size_t length = out->length, begun[2], count = 0;
    struct stalls *stalls;

    if (stalls_take(&stalls, service->options.profile, &window) < 0)
        return 0;
    put_head(out, service, otlp, begun);
    for (size_t i = 0; i < stalls_count(stalls); i++) {
        const struct stall *stall = stalls_at(stalls, i);
        struct process_info process;

        if (!is_new(logs, stall) ||
            !profile_process(service->options.profile, stall->process_id, &process))
            continue;
        put_record(out, stall, &process, epoch_us);
        count++;
    }
    protobuf_end(out, begun[1]);
    protobuf_end(out, begun[0]);
    logs->change = stalls_change(stalls);
    stalls_free(stalls);
    if (!count)
        out->length = length;
    return count;
}

#include "loss_log.h"

#include "client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As Dart's package:logging numbers them; DevTools shows the second in red. */
enum { LEVEL_WARNING = 900, LEVEL_SEVERE = 1000, PAUSE_MS = 10000 };

static const char *const texts[] = {
#define LOSS_TEXT(name, wire, text) [FEED_LOSS_##name] = text,
    FEED_LOSSES(LOSS_TEXT)
#undef LOSS_TEXT
};

static bool is_normal(int loss)
{
    return loss == FEED_LOSS_NO_TABLES || loss == FEED_LOSS_AWAKE;
}

static bool ends_sampling(int loss)
{
    return loss == FEED_LOSS_SANDBOXED || loss == FEED_LOSS_NO_THREAD;
}

/* The process's mark, made when there is none; NULL when out of memory. */
static struct loss_mark *mark_of(struct loss_log *log, uint64_t process_id)
{
    struct loss_mark *marks;

    for (size_t i = 0; i < log->count; i++)
        if (log->marks[i].process_id == process_id)
            return &log->marks[i];
    marks = realloc(log->marks, (log->count + 1) * sizeof(*marks));
    if (!marks)
        return NULL;
    log->marks = marks;
    marks[log->count] = (struct loss_mark){ .process_id = process_id };
    return &marks[log->count++];
}

/* A text, or nothing, as clients expect values of the language. */
static json_t *instance(const char *text)
{
    const char *kind = text ? "String" : "Null";
    char class_id[24];

    snprintf(class_id, sizeof(class_id), "classes/%s", kind);
    return json_pack("{s:s, s:{s:s, s:b, s:s, s:s}, s:s, s:s, s:o}", "type", TYPE_INSTANCE_REF,
                     "class", "type", TYPE_CLASS_REF, "fixedId", 1, "id", class_id, "name", kind,
                     "id", text ? "objects/text" : "objects/null", "kind", kind, "valueAsString",
                     isolate_text(text ? text : "null"));
}

static void tell(struct service *service, const struct isolate *isolate, int loss, uint64_t more)
{
    const struct process_info *process = isolate->process;
    int64_t now_ms = service->options.epoch_ms();
    char message[512];
    json_t *event = isolate_event(KIND_LOGGING, isolate, now_ms);
    json_t *record;

    if (ends_sampling(loss))
        snprintf(message, sizeof(message), "%s (%" PRId32 "): %s", process->name, process->pid,
                 texts[loss]);
    else
        snprintf(message, sizeof(message), "%s (%" PRId32 "): %" PRIu64 " more lost: %s",
                 process->name, process->pid, more, texts[loss]);
    record =
        json_pack("{s:s, s:I, s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "type", TYPE_LOG_RECORD,
                  "sequenceNumber", (json_int_t)service->loss_log.sequence++, "time",
                  (json_int_t)now_ms, "level", ends_sampling(loss) ? LEVEL_SEVERE : LEVEL_WARNING,
                  "loggerName", instance("isoscope"), "message", instance(message), "zone",
                  instance(NULL), "error", instance(NULL), "stackTrace", instance(NULL));
    streams_logged(service, event, record);
}

static void look_at(struct service *service, const struct isolate *isolate, struct loss_mark *mark)
{
    int64_t now_ms = service->options.epoch_ms();

    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++) {
        uint64_t lost = isolate->process->status.lost[loss];

        if (is_normal(loss) || lost <= mark->told[loss] ||
            (mark->told_ms[loss] && now_ms - mark->told_ms[loss] < PAUSE_MS))
            continue;
        tell(service, isolate, loss, lost - mark->told[loss]);
        mark->told[loss] = lost;
        mark->told_ms[loss] = now_ms;
    }
}

static bool lost_something(const struct process_info *process)
{
    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        if (!is_normal(loss) && process->status.lost[loss])
            return true;
    return false;
}

void loss_log_look(struct service *service)
{
    const struct process_info *process = NULL;

    while ((process = isolates_next(&service->isolates, process))) {
        const struct isolate *isolate = isolates_find(&service->isolates, (int64_t)process->id);
        struct loss_mark *mark =
            isolate && lost_something(process) ? mark_of(&service->loss_log, process->id) : NULL;

        if (mark)
            look_at(service, isolate, mark);
    }
}

void loss_log_free(struct loss_log *log)
{
    free(log->marks);
}

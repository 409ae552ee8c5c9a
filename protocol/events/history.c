#include "history.h"

#include <stdbool.h>
#include <stdlib.h>

struct past_event {
    struct past_event *next;
    json_t *event;
    size_t bytes;
};

struct history {
    struct past_event *first, *last;
    size_t count, bytes;
};

/* Timer: DevTools asks for it when it opens its Logging screen; nothing comes on it yet. */
#define HISTORY_STREAMS(X) X(LOGGING) X(STDOUT) X(STDERR) X(EXTENSION) X(TIMER)
#define HISTORY_ENUM(name) HISTORY_##name,
enum { HISTORY_STREAMS(HISTORY_ENUM) HISTORY_COUNT };
#undef HISTORY_ENUM

struct histories {
    struct history of[HISTORY_COUNT];
    bool sized;       /* false: HISTORY_EVENTS_DEFAULT */
    size_t log_limit; /* events of Logging */
};

static const enum stream_id streams[HISTORY_COUNT] = {
#define HISTORY_STREAM(name) [HISTORY_##name] = STREAM_ID_##name,
    HISTORY_STREAMS(HISTORY_STREAM)
#undef HISTORY_STREAM
};

struct histories *histories_new(void)
{
    return calloc(1, sizeof(struct histories));
}

struct history *histories_find(struct histories *histories, enum stream_id stream)
{
    for (int i = 0; i < HISTORY_COUNT; i++)
        if (streams[i] == stream)
            return &histories->of[i];
    return NULL;
}

static void drop_first(struct history *history)
{
    struct past_event *past = history->first;

    history->first = past->next;
    if (!history->first)
        history->last = NULL;
    history->count--;
    history->bytes -= past->bytes;
    json_decref(past->event);
    free(past);
}

static void bound(struct history *history, size_t count_max)
{
    while (history->first && (history->count > count_max || history->bytes > HISTORY_BYTES_MAX))
        drop_first(history);
}

static size_t limit_of(const struct histories *histories, const struct history *history)
{
    return history == &histories->of[HISTORY_LOGGING] ? histories_log_limit(histories)
                                                      : HISTORY_EVENTS_DEFAULT;
}

void histories_add(struct histories *histories, enum stream_id stream, json_t *event)
{
    struct history *history = histories_find(histories, stream);
    struct past_event *past = history && event ? calloc(1, sizeof(*past)) : NULL;

    if (!past)
        return;
    past->event = json_incref(event);
    past->bytes = json_dumpb(event, NULL, 0, JSON_COMPACT);
    if (history->last)
        history->last->next = past;
    else
        history->first = past;
    history->last = past;
    history->count++;
    history->bytes += past->bytes;
    bound(history, limit_of(histories, history));
}

size_t histories_log_limit(const struct histories *histories)
{
    return histories->sized ? histories->log_limit : HISTORY_EVENTS_DEFAULT;
}

void histories_limit_log(struct histories *histories, size_t limit)
{
    histories->sized = true;
    histories->log_limit = limit;
    bound(&histories->of[HISTORY_LOGGING], limit);
}

void histories_free(struct histories *histories)
{
    for (int i = 0; histories && i < HISTORY_COUNT; i++)
        bound(&histories->of[i], 0);
    free(histories);
}

const struct past_event *history_next(const struct history *history, const struct past_event *past)
{
    return past ? past->next : history->first;
}

json_t *past_event_json(const struct past_event *past)
{
    return past->event;
}

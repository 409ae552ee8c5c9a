#include "loss_log.h"

#include "log_records.h"
#include "../client/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)
enum { PAUSE_MIN_S = 10, PAUSE_MAX_S = 3600, REST_MIN_S = 60 };

struct loss_course {
    uint64_t lost, told;      /* by now; when it was told last */
    int64_t grew_us, told_us; /* when lost grew; when something was told */
    int64_t pause_us;         /* 0: nothing was ever told */
    bool lasts;               /* its end is still to be told */
};

struct loss_mark {
    uint64_t process_id;
    struct loss_course of[FEED_LOSS_COUNT];
};

struct loss_log {
    struct loss_mark *marks;
    size_t count;
};

static const char *const texts[] = {
#define LOSS_TEXT(name, wire, text) [FEED_LOSS_##name] = text,
    FEED_LOSSES(LOSS_TEXT)
#undef LOSS_TEXT
};

struct loss_log *loss_log_new(void)
{
    return calloc(1, sizeof(struct loss_log));
}

static bool is_normal(int loss)
{
    return loss == FEED_LOSS_NO_TABLES || loss == FEED_LOSS_AWAKE;
}

static bool ends_sampling(int loss)
{
    return loss == FEED_LOSS_SANDBOXED;
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

static void tell(struct service *service, const struct isolate *isolate, int loss,
                 const char *course)
{
    const struct process_info *process = isolate->process;
    char message[512];

    snprintf(message, sizeof(message), "%s (%" PRId32 "): %s%s", process->name, process->pid,
             course, texts[loss]);
    log_record(service, isolate,
               &(struct log_words){ .level = ends_sampling(loss) ? LEVEL_SEVERE : LEVEL_WARNING,
                                    .message = message });
}

static void tell_loss(struct service *service, const struct isolate *isolate, int loss,
                      struct loss_course *course)
{
    char told[64] = "";

    if (!ends_sampling(loss))
        snprintf(told, sizeof(told), "%" PRIu64 "%s lost: ", course->lost - course->told,
                 course->told ? " more" : "");
    tell(service, isolate, loss, told);
    course->pause_us = course->pause_us ? 2 * course->pause_us : PAUSE_MIN_S * SECOND_US;
    if (course->pause_us > PAUSE_MAX_S * SECOND_US)
        course->pause_us = PAUSE_MAX_S * SECOND_US;
    course->told = course->lost;
}

static void tell_end(struct service *service, const struct isolate *isolate, int loss,
                     struct loss_course *course)
{
    char told[64];

    snprintf(told, sizeof(told), "no more is lost, %" PRIu64 " in all: ", course->lost);
    tell(service, isolate, loss, told);
    course->lasts = false;
    course->told = course->lost;
}

static bool rests(const struct isolate *isolate, const struct loss_course *course, int64_t now_us)
{
    int64_t rest_us = now_us - course->grew_us;

    return !isolate->process->live ||
           (rest_us >= course->pause_us && rest_us >= REST_MIN_S * SECOND_US);
}

static void look_at(struct service *service, const struct isolate *isolate, int loss,
                    struct loss_course *course)
{
    int64_t now_us = service->options.monotonic_us();
    uint64_t lost = isolate->process->status.lost[loss];

    if (lost > course->lost) {
        course->lost = lost;
        course->grew_us = now_us;
        course->lasts |= course->pause_us > 0;
    }
    if (course->lasts && rests(isolate, course, now_us))
        tell_end(service, isolate, loss, course);
    else if (course->lost == course->told ||
             (course->pause_us && now_us - course->told_us < course->pause_us))
        return;
    else
        tell_loss(service, isolate, loss, course);
    course->told_us = now_us;
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
            isolate && lost_something(process) ? mark_of(service->loss_log, process->id) : NULL;

        for (int loss = 0; mark && loss < FEED_LOSS_COUNT; loss++)
            if (!is_normal(loss))
                look_at(service, isolate, loss, &mark->of[loss]);
    }
}

void loss_log_free(struct loss_log *log)
{
    if (log)
        free(log->marks);
    free(log);
}

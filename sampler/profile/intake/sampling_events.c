#include "sampling_events.h"

#include "process_events.h"

#include <string.h>

enum { LOSSES_EVERY_US = 1000000 };

#define WORD_OF(name, word)      word,
#define NAME_OF(name, word, ...) word,
static const char *const modes[] = { FEED_MODES(WORD_OF) };
static const char *const timers[] = { FEED_TIMERS(WORD_OF) };
static const char *const losses[] = { FEED_LOSSES(NAME_OF) };
static const char *const runtimes[] = { FEED_RUNTIMES(WORD_OF) };
#undef NAME_OF
#undef WORD_OF

static struct event_argument text(const char *name, const char *value)
{
    return (struct event_argument){ .name = EVENT_WORD(name),
                                    .type = FEED_ARGUMENT_TEXT,
                                    .text = EVENT_WORD(value) };
}

static struct event_argument number(const char *name, uint64_t value)
{
    return (struct event_argument){ .name = EVENT_WORD(name),
                                    .type = FEED_ARGUMENT_UINT,
                                    .word = value };
}

void sampling_events_attach(struct process *process)
{
    const struct event_argument arguments[] = {
        text("exe", process->exe),
        number("pid", (uint64_t)process->pid),
        number("ppid", (uint64_t)process->ppid),
    };

    if (!process->sampling.attached)
        process_events_tell(process, "VM", "Process attached", process->start_us, arguments, 3);
    process->sampling.attached = true;
}

void sampling_events_thread(struct process *process, const struct feed_thread_view *view,
                            bool ended, int64_t at_us)
{
    const struct event_argument arguments[] = {
        number("tid", (uint64_t)view->tid),
        text("name", view->name),
    };

    if (view->tid != feed_reader_pid(process->reader)) /* both as the program sees them */
        process_events_tell(process, "VM", ended ? "Thread ended" : "Thread started", at_us,
                            arguments, 2);
}

/* The period is the one that its timer can keep. */
static void tell_sampling(struct process *process, const struct sampling_told *told, int64_t at_us)
{
    const struct event_argument arguments[] = {
        number("enabled", told->enabled),
        text("mode", modes[told->mode]),
        number("periodMicros", told->period_us),
        text("timer", timers[told->timer]),
    };

    process_events_tell(process, SERVICE_STREAM, "Sampling", at_us, arguments, 4);
}

static void tell_losses(struct process *process, const struct feed_status_view *status,
                        int64_t now_us)
{
    struct sampling_told *told = &process->sampling;

    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++) {
        const struct event_argument arguments[] = {
            text("reason", losses[loss]),
            number("count", status->lost[loss] - told->lost[loss]),
        };

        if (status->lost[loss] <= told->lost[loss])
            continue;
        process_events_tell(process, SERVICE_STREAM, "Samples lost", now_us, arguments, 2);
        told->lost[loss] = status->lost[loss];
        told->lost_us = now_us;
    }
}

static void tell_changes(struct process *process, const struct feed_settings *settings,
                         const struct feed_status_view *status, int64_t now_us)
{
    struct sampling_told *told = &process->sampling;

    if (told->came && told->enabled == settings->enabled && told->mode == settings->mode &&
        told->timer == status->timer && told->period_us == status->true_period_us)
        return;
    told->enabled = settings->enabled;
    told->mode = settings->mode;
    told->timer = status->timer;
    told->period_us = status->true_period_us;
    tell_sampling(process, told, told->came ? now_us : process->start_us);
}

/* Whose frames are shown from now on, and whose are not. */
static void tell_runtimes(struct process *process, int64_t now_us)
{
    const struct runtime_looks *looks = &process->looks;
    struct sampling_told *told = &process->sampling;

    for (int kind = 0; kind < FEED_RUNTIME_KIND_COUNT; kind++) {
        const struct event_argument runtime = text("runtime", runtimes[kind]);

        if ((looks->told & ~told->runtimes) >> kind & 1)
            process_events_tell(process, SERVICE_STREAM, "Runtime found", now_us, &runtime, 1);
    }
    if (looks->unknown & ~told->unknown_runtimes) {
        const struct event_argument reason = text("reason", looks->reason);

        process_events_tell(process, SERVICE_STREAM, "Runtime not known", now_us, &reason, 1);
    }
    told->runtimes = looks->told;
    told->unknown_runtimes = looks->unknown;
}

void sampling_events_tell(struct process *process, const struct feed_settings *settings, bool ended,
                          int64_t now_us)
{
    struct sampling_told *told = &process->sampling;
    struct feed_status_view status;

    process_status(process, &status);
    library_events_tell(process, &status, now_us);
    tell_changes(process, settings, &status, now_us);
    tell_runtimes(process, now_us);
    told->came = true;
    if (ended || now_us - told->lost_us >= LOSSES_EVERY_US)
        tell_losses(process, &status, now_us);
    if (ended)
        process_events_tell(
            process, "VM", process->execed ? "Process went on as another program" : "Process ended",
            process->ended_us, NULL, 0);
}

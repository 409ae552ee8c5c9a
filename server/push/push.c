#include "push.h"

#include "../console/log_line.h"
#include "../net/delay.h"
#include "../net/loop.h"
#include "../net/wake.h"
#include "push_facts.h"
#include "push_sender.h"
#include "push_window.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/outside/process_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    END_MS = 5000, /* for the last window and what waits */
    WORK_MS = 1,   /* between two pieces of a profile that is being made */
    LOOK_MS = 20,  /* between two looks whether it goes on */
    MS_PER_SECOND = 1000,
    /* A thread that loses its processor in the middle of a tick hands its sample over later, with the
     * tick's time: a window ends so long ago. */
    SETTLE_US = 500 * 1000,
    /* Nobody waits for a profile that is pushed, but at the end. */
    NAMES_US = 30 * 1000 * 1000,
    NAMES_US_AT_END = 1000 * 1000,
    /* A stall that the program's end ends is seen to have ended a moment later. */
    STALLS_US_AT_END = 1000 * 1000,
};

struct push {
    struct push_plan plan;
    struct delay *delay, *end;
    struct wake *left;
    struct push_queue *queue;
    struct push_sender *sender;
    struct push_window *window;
    int64_t until_us; /* the last one's end */
    bool finishing, last, over;
    bool said_disk;
};

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void put_into_queue(void *context, const struct push_profile *profile, const char *bytes,
                           size_t length)
{
    struct push *push = context;

    if (push_queue_put(push->queue, profile, bytes, length) < 0) {
        if (!push->said_disk)
            log_line("--push: cannot write into %s: %s", push->plan.options->folder,
                     strerror(errno));
        push->said_disk = true;
    }
    push_sender_wake(push->sender);
}

static void begin_window(struct push *push)
{
    int64_t now_us = clock_us(CLOCK_MONOTONIC);
    const struct push_span span = {
        .from_us = push->until_us,
        .until_us = push->finishing ? now_us : now_us - SETTLE_US,
        .epoch_us = clock_us(CLOCK_REALTIME) - now_us,
        .names_us = push->finishing ? NAMES_US_AT_END : NAMES_US,
    };

    push->until_us = span.until_us;
    push->last = push->finishing;
    push_window_begin(push->window, &span);
    push_window_stalls(push->window);
}

static void is_due(void *context)
{
    struct push *push = context;
    uint32_t wait_ms;
    int64_t left_us;

    if (!push_window_runs(push->window))
        begin_window(push);
    wait_ms = push_window_step(push->window);
    if (push_window_runs(push->window))
        return delay_set(push->delay, wait_ms);
    if (push->last) {
        push_window_stalls(push->window); /* of which the end was known only now */
        if (push_window_stalls_wait(push->window) &&
            clock_us(CLOCK_MONOTONIC) < push->until_us + STALLS_US_AT_END)
            return delay_set(push->delay, LOOK_MS);
        return push_sender_finish(push->sender);
    }
    if (push->finishing)
        return delay_set(push->delay, WORK_MS);
    left_us =
        push->until_us + push->plan.options->seconds * INT64_C(1000000) - clock_us(CLOCK_MONOTONIC);
    delay_set(push->delay, left_us < 1000 ? 1 : (uint32_t)(left_us / 1000));
}

static void say_end(struct push *push)
{
    struct push_counts counts = push_sender_counts(push->sender);
    unsigned waiting = push_queue_waiting(push->queue);
    uint64_t dropped = push_queue_dropped(push->queue), aged = push_queue_aged(push->queue);

    if (!push->plan.stats && !waiting && !dropped && !aged && !counts.refused)
        return;
    log_line("--push: %" PRIu64 " profiles sent; %u wait in %s; dropped: %" PRIu64
             " for want of room, %" PRIu64 " older than an hour, %" PRIu64 " refused",
             counts.sent, waiting, push->plan.options->folder, dropped, aged, counts.refused);
}

static void end(void *context)
{
    struct push *push = context;

    if (push->over)
        return;
    push->over = true;
    push_window_drop(push->window);
    say_end(push);
}

static void sender_left(void *context)
{
    struct push *push = context;

    wake_now(push->left);
}

static void add_labels(struct push *push)
{
    struct push_labels *labels = push_window_labels(push->window);
    char text[64] = "";

    *labels = push->plan.options->labels;
    push_label_add_program(labels, push->plan.program);
    if (gethostname(text, sizeof(text) - 1) == 0)
        push_label_add(labels, "host", text);
}

static void add_known(struct push *push, const char *name, const char *value)
{
    if (value[0])
        push_label_add(push_window_labels(push->window), name, value);
}

void push_tell_pid(struct push *push, int pid)
{
    struct process_place place;
    char text[PUSH_ID_BYTES];

    if (!push)
        return;
    snprintf(text, sizeof(text), "%d", pid);
    push_label_add(push_window_labels(push->window), PUSH_PID, text);
    place = process_place_of(pid);
    add_known(push, "container_id", place.container);
    add_known(push, "container_runtime", place.engine);
    add_known(push, "pod_uid", place.pod);
    add_known(push, "systemd_unit", place.unit);
    push_build_of(pid, text);
    add_known(push, "build_id", text);
}

static int open_sender(struct push *push)
{
    const struct push_options *options = push->plan.options;
    const struct push_sender_plan plan = { .target = &options->target,
                                           .headers = options->headers,
                                           .folder = options->folder,
                                           .zstd = options->zstd,
                                           .queue = push->queue,
                                           .left = sender_left,
                                           .context = push };
    char error[512];
    int status = push_sender_new(&push->sender, &plan, error, sizeof(error));

    if (status < 0)
        log_line("--push: %s", error);
    return status;
}

static int open_all(struct push *push)
{
    const struct push_options *options = push->plan.options;

    if (push_queue_open(&push->queue, options->folder, options->queue_bytes) < 0) {
        log_line("--push: cannot make %s: %s", options->folder, strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    if (wake_new(&push->left) < 0 || wake_watch(push->left, push->plan.loop, end, push) < 0 ||
        delay_new(&push->delay, push->plan.loop, is_due, push) < 0 ||
        delay_new(&push->end, push->plan.loop, end, push) < 0) {
        log_line("--push: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    return open_sender(push);
}

static int open_window(struct push *push)
{
    const struct push_plan *plan = &push->plan;
    const struct push_window_plan window = { .form = plan->options->target.form,
                                             .allocations = plan->allocations,
                                             .locks = plan->locks,
                                             .waits = plan->waits,
                                             .web = plan->web,
                                             .service = plan->service,
                                             .made = put_into_queue,
                                             .context = push };
    int status = push_window_new(&push->window, &window);

    if (status == 0)
        add_labels(push);
    return status;
}

int push_start(struct push **out, const struct push_plan *plan)
{
    struct push *push;
    int status;

    if (!plan->options->wanted)
        return 0;
    push = calloc(1, sizeof(*push));
    if (!push)
        return -ISOSCOPE_NO_MEMORY;
    *out = push; /* the loop may know it already when this fails */
    push->plan = *plan;
    push->until_us = clock_us(CLOCK_MONOTONIC);
    status = open_window(push);
    if (status == 0)
        status = open_all(push);
    if (status < 0)
        push->over = true;
    else
        delay_set(push->delay, plan->options->seconds * MS_PER_SECOND);
    return status;
}

void push_finish(struct push *push)
{
    if (!push || push->finishing || push->over)
        return;
    push->finishing = true;
    push_window_hurry(push->window, NAMES_US_AT_END);
    delay_set(push->end, END_MS);
    delay_set(push->delay, WORK_MS);
}

bool push_runs(const struct push *push)
{
    return push && push->finishing && !push->over;
}

void push_stop(struct push *push)
{
    if (!push)
        return;
    push_sender_free(push->sender);
    push->sender = NULL;
    push_window_drop(push->window);
}

void push_free(struct push *push)
{
    if (!push)
        return;
    delay_free(push->delay);
    delay_free(push->end);
    wake_free(push->left);
    push_queue_free(push->queue);
    push_window_free(push->window);
    free(push);
}

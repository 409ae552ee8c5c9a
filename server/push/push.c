#include "push.h"

#include "../console/log_line.h"
#include "../http/gzip.h"
#include "../net/delay.h"
#include "../net/loop.h"
#include "../net/wake.h"
#include "../net/web.h"
#include "push_facts.h"
#include "push_sender.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/outside/process_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define PID "pid"

enum {
    END_MS = 5000, /* for the last window and what waits */
    WORK_MS = 1,   /* between two pieces of a profile that is being made */
    LOOK_MS = 20,  /* between two looks whether it goes on */
    PIECE_BYTES = 32 * 1024,
    PIECES = 8, /* in a turn */
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

/* Of each window one profile. */
static const struct kind {
    const char *path, *name; /* as receivers call it */
    enum { ALWAYS, WITH_ALLOCATIONS, WITH_LOCKS, WITH_WAITS } when;
    enum { ANY_FORM, OTLP_ONLY, PYROSCOPE_ONLY } to;
} kinds[] = {
    { "debug/pprof/profile", "process_cpu", ALWAYS, ANY_FORM },
    { "debug/pprof/wall", "wall", WITH_WAITS, PYROSCOPE_ONLY },
    { "debug/pprof/offcpu", "off_cpu", WITH_WAITS, OTLP_ONLY },
    { "debug/pprof/allocs", "memory", WITH_ALLOCATIONS, ANY_FORM },
    { "debug/pprof/mutex", "mutex", WITH_LOCKS, ANY_FORM },
    { "debug/pprof/block", "block", WITH_LOCKS, ANY_FORM },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct push {
    struct push_plan plan;
    struct delay *delay, *end;
    struct wake *left;
    struct push_queue *queue;
    struct push_sender *sender;
    struct push_profile profile; /* that is being made */
    int64_t from_us, until_us;   /* its window */
    int64_t epoch_us;            /* between the clocks */
    unsigned kind;               /* KINDS: none is being made */
    struct client *client;       /* that pulls it; NULL: it has not begun */
    struct gzip *gzip;
    struct json_text packed;
    struct stall_logs *stalls; /* NULL: they are not sent */
    bool finishing, last, over;
    bool said_disk;
};

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static bool is_otlp(const struct push *push)
{
    return push->plan.options->target.form == PUSH_OTLP;
}

static bool is_sampled(const struct push *push, unsigned kind)
{
    const bool sampled[] = { [ALWAYS] = true,
                             [WITH_ALLOCATIONS] = push->plan.allocations,
                             [WITH_LOCKS] = push->plan.locks,
                             [WITH_WAITS] = push->plan.waits };

    return sampled[kinds[kind].when] &&
           (kinds[kind].to == ANY_FORM || (kinds[kind].to == OTLP_ONLY) == is_otlp(push));
}

static void drop_profile(struct push *push)
{
    client_free(push->client);
    gzip_free(push->gzip);
    json_text_free(&push->packed);
    push->client = NULL;
    push->gzip = NULL;
}

static void next_kind(struct push *push)
{
    drop_profile(push);
    do
        push->kind++;
    while (push->kind < KINDS && !is_sampled(push, push->kind));
}

/* Labels, as attributes of what a profile is about. A process's number is one. */
static size_t list_resource(const struct push *push, struct pull_attribute out[PUSH_LABELS_MAX])
{
    const struct push_labels *labels = &push->profile.labels;

    for (unsigned i = 0; i < labels->count; i++) {
        const struct push_label *label = &labels->list[i];
        bool number = !strcmp(label->name, PID);

        out[i] = (struct pull_attribute){ push_otlp_name(label->name), number ? NULL : label->value,
                                          number ? strtoull(label->value, NULL, 10) : 0 };
    }
    return labels->count;
}

static void set_profile(struct push *push, const char *kind)
{
    snprintf(push->profile.kind, sizeof(push->profile.kind), "%s", kind);
    push->profile.begin_ms = (push->from_us + push->epoch_us) / 1000;
    push->profile.end_ms = (push->until_us + push->epoch_us) / 1000;
}

/* False: out of memory, or of what is random; this one is left out. */
static bool begin_profile(struct push *push)
{
    static const char *const arguments[] = { "labels=few" };
    struct pull_attribute resource[PUSH_LABELS_MAX];
    struct pull_otlp otlp = { resource, list_resource(push, resource), { 0 } };
    const struct pull_request request = { .path = kinds[push->kind].path,
                                          .arguments = arguments,
                                          .argument_count = 1,
                                          .from_us = push->from_us,
                                          .until_us = push->until_us,
                                          .otlp = is_otlp(push) ? &otlp : NULL,
                                          .names_us =
                                              push->finishing ? NAMES_US_AT_END : NAMES_US };
    struct pull_answer answer;

    if (client_new(&push->client, push->plan.service) < 0 || gzip_new(&push->gzip) < 0 ||
        getrandom(otlp.id, sizeof(otlp.id), GRND_NONBLOCK) != sizeof(otlp.id))
        return false;
    set_profile(push, kinds[push->kind].name);
    client_pull(push->client, &request, &answer);
    return answer.packed;
}

static void put_into_queue(struct push *push)
{
    if (push->packed.failed)
        return;
    if (push_queue_put(push->queue, &push->profile, push->packed.data, push->packed.length) < 0) {
        if (!push->said_disk)
            log_line("--push: cannot write into %s: %s", push->plan.options->folder,
                     strerror(errno));
        push->said_disk = true;
    }
    push_sender_wake(push->sender);
}

static void queue_profile(struct push *push)
{
    if (client_pulled_samples(push->client))
        put_into_queue(push);
}

/* True: it has ended. */
static bool take_piece(struct push *push)
{
    static char piece[PIECE_BYTES]; /* the service thread's only */
    bool begins, ends = false;
    const uint8_t *packed;
    size_t length = client_send(push->client, piece, sizeof(piece), &begins, &ends), size;

    if (!length)
        return false;
    if (gzip_pack(push->gzip, piece, length, ends, &packed, &size) < 0)
        push->packed.failed = true;
    else
        json_text_raw(&push->packed, (const char *)packed, size);
    return ends;
}

static bool is_broken(const struct push *push)
{
    const char *reason;
    uint16_t code;

    return push->packed.failed || client_closing(push->client, &code, &reason);
}

/* A turn's work. Returns when to go on. */
static uint32_t make_profile(struct push *push)
{
    bool ended = false;

    if (!push->client && !begin_profile(push)) {
        next_kind(push);
        return WORK_MS;
    }
    for (int i = 0; i < PIECES && !ended && client_wants_send(push->client); i++)
        ended = take_piece(push);
    if (ended)
        queue_profile(push);
    if (ended || is_broken(push))
        next_kind(push);
    else if (!client_wants_send(push->client)) {
        web_poll(push->plan.web); /* names may have come, or are late */
        return LOOK_MS;
    }
    return WORK_MS;
}

/* What has ended since the last time. */
static void queue_stalls(struct push *push)
{
    struct pull_attribute resource[PUSH_LABELS_MAX];
    const struct pull_otlp otlp = { resource, list_resource(push, resource), { 0 } };
    struct json_text logs = { 0 };
    const uint8_t *packed;
    size_t size;

    set_profile(push, PUSH_STALLS);
    if (stall_logs_take(push->stalls, push->plan.service, &otlp, push->epoch_us, &logs) &&
        !logs.failed && gzip_new(&push->gzip) == 0 &&
        gzip_pack(push->gzip, logs.data, logs.length, true, &packed, &size) == 0) {
        json_text_raw(&push->packed, (const char *)packed, size);
        put_into_queue(push);
    }
    json_text_free(&logs);
    drop_profile(push);
}

static void begin_window(struct push *push)
{
    int64_t now_us = clock_us(CLOCK_MONOTONIC);

    push->epoch_us = clock_us(CLOCK_REALTIME) - now_us;
    push->from_us = push->until_us;
    push->until_us = push->finishing ? now_us : now_us - SETTLE_US;
    push->kind = 0;
    push->last = push->finishing;
    if (push->stalls)
        queue_stalls(push);
}

static void is_due(void *context)
{
    struct push *push = context;
    int64_t left_us;

    if (push->kind == KINDS)
        begin_window(push);
    if (push->kind < KINDS)
        delay_set(push->delay, make_profile(push));
    if (push->kind < KINDS)
        return;
    if (push->last) {
        if (push->stalls)
            queue_stalls(push); /* of which the end was known only now */
        if (push->stalls && stall_logs_wait(push->stalls) &&
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
    drop_profile(push);
    say_end(push);
}

static void sender_left(void *context)
{
    struct push *push = context;

    wake_now(push->left);
}

static void add_labels(struct push *push)
{
    struct push_labels *labels = &push->profile.labels;
    const char *slash = strrchr(push->plan.program, '/');
    char text[64] = "";

    *labels = push->plan.options->labels;
    push_label_add(labels, "service_name", slash ? slash + 1 : push->plan.program);
    if (gethostname(text, sizeof(text) - 1) == 0)
        push_label_add(labels, "host", text);
}

static void add_known(struct push *push, const char *name, const char *value)
{
    if (value[0])
        push_label_add(&push->profile.labels, name, value);
}

void push_tell_pid(struct push *push, int pid)
{
    struct process_place place;
    char text[PUSH_ID_BYTES];

    if (!push)
        return;
    snprintf(text, sizeof(text), "%d", pid);
    push_label_add(&push->profile.labels, PID, text);
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
    push->kind = KINDS;
    push->until_us = clock_us(CLOCK_MONOTONIC);
    add_labels(push);
    if (is_otlp(push) && !(push->stalls = stall_logs_new()))
        status = -ISOSCOPE_NO_MEMORY;
    else
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
    if (push->client)
        client_pull_hurry(push->client, NAMES_US_AT_END);
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
    drop_profile(push);
}

void push_free(struct push *push)
{
    if (!push)
        return;
    delay_free(push->delay);
    delay_free(push->end);
    wake_free(push->left);
    push_queue_free(push->queue);
    stall_logs_free(push->stalls);
    free(push);
}

#include "push_window.h"

#include "../http/gzip.h"
#include "../net/web.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum {
    WORK_MS = 1,  /* between two pieces of a profile that is being made */
    LOOK_MS = 20, /* between two looks whether it goes on */
    PIECE_BYTES = 32 * 1024,
    PIECES = 8, /* in a turn */
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

struct push_window {
    struct push_window_plan plan;
    struct push_profile profile; /* that is being made */
    struct push_span span;
    unsigned kind;         /* KINDS: none is being made */
    struct client *client; /* that pulls it; NULL: it has not begun */
    struct gzip *gzip;
    struct json_text packed;
    struct stall_logs *stalls; /* NULL: they are not sent */
    unsigned failed;
};

int push_window_new(struct push_window **out, const struct push_window_plan *plan)
{
    struct push_window *window = calloc(1, sizeof(*window));

    if (!window)
        return -ISOSCOPE_NO_MEMORY;
    window->plan = *plan;
    window->kind = KINDS;
    if (plan->form == PUSH_OTLP && !(window->stalls = stall_logs_new())) {
        free(window);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = window;
    return 0;
}

void push_window_drop(struct push_window *window)
{
    if (!window)
        return;
    client_free(window->client);
    gzip_free(window->gzip);
    json_text_free(&window->packed);
    window->client = NULL;
    window->gzip = NULL;
}

void push_window_free(struct push_window *window)
{
    if (!window)
        return;
    push_window_drop(window);
    stall_logs_free(window->stalls);
    free(window);
}

struct push_labels *push_window_labels(struct push_window *window)
{
    return &window->profile.labels;
}

static bool is_sampled(const struct push_window *window, unsigned kind)
{
    const bool sampled[] = { [ALWAYS] = true,
                             [WITH_ALLOCATIONS] = window->plan.allocations,
                             [WITH_LOCKS] = window->plan.locks,
                             [WITH_WAITS] = window->plan.waits };

    return sampled[kinds[kind].when] &&
           (kinds[kind].to == ANY_FORM ||
            (kinds[kind].to == OTLP_ONLY) == (window->plan.form == PUSH_OTLP));
}

static void next_kind(struct push_window *window)
{
    push_window_drop(window);
    do
        window->kind++;
    while (window->kind < KINDS && !is_sampled(window, window->kind));
}

void push_window_begin(struct push_window *window, const struct push_span *span)
{
    window->span = *span;
    window->kind = 0; /* which is always sampled */
}

bool push_window_runs(const struct push_window *window)
{
    return window->kind < KINDS;
}

/* Labels, as attributes of what a profile is about. A process's number is one. */
static size_t list_resource(const struct push_window *window,
                            struct pull_attribute out[PUSH_LABELS_MAX])
{
    const struct push_labels *labels = &window->profile.labels;

    for (unsigned i = 0; i < labels->count; i++) {
        const struct push_label *label = &labels->list[i];
        bool number = !strcmp(label->name, PUSH_PID);

        out[i] = (struct pull_attribute){ push_otlp_name(label->name), number ? NULL : label->value,
                                          number ? strtoull(label->value, NULL, 10) : 0 };
    }
    return labels->count;
}

static void set_profile(struct push_window *window, const char *kind)
{
    const struct push_span *span = &window->span;

    snprintf(window->profile.kind, sizeof(window->profile.kind), "%s", kind);
    window->profile.begin_ms = (span->from_us + span->epoch_us) / 1000;
    window->profile.end_ms = (span->until_us + span->epoch_us) / 1000;
}

/* False: out of memory, or of what is random. */
static bool begin_profile(struct push_window *window)
{
    static const char *const arguments[] = { "labels=few" };
    struct pull_attribute resource[PUSH_LABELS_MAX];
    struct pull_otlp otlp = { resource, list_resource(window, resource), { 0 } };
    const struct pull_request request = {
        .path = kinds[window->kind].path,
        .arguments = arguments,
        .argument_count = 1,
        .from_us = window->span.from_us,
        .until_us = window->span.until_us,
        .otlp = window->plan.form == PUSH_OTLP ? &otlp : NULL,
        .names_us = window->span.names_us,
    };
    struct pull_answer answer;

    if (client_new(&window->client, window->plan.service) < 0 || gzip_new(&window->gzip) < 0 ||
        getrandom(otlp.id, sizeof(otlp.id), GRND_NONBLOCK) != sizeof(otlp.id))
        return false;
    set_profile(window, kinds[window->kind].name);
    client_pull(window->client, &request, &answer);
    return answer.packed;
}

/* True: it has ended. */
static bool take_piece(struct push_window *window)
{
    static char piece[PIECE_BYTES]; /* the service thread's only */
    bool begins, ends = false;
    const uint8_t *packed;
    size_t length = client_send(window->client, piece, sizeof(piece), &begins, &ends), size;

    if (!length)
        return false;
    if (gzip_pack(window->gzip, piece, length, ends, &packed, &size) < 0)
        window->packed.failed = true;
    else
        json_text_raw(&window->packed, (const char *)packed, size);
    return ends;
}

static bool is_broken(const struct push_window *window)
{
    const char *reason;
    uint16_t code;

    return window->packed.failed || client_closing(window->client, &code, &reason);
}

static void hand_over(struct push_window *window)
{
    const struct json_text *packed = &window->packed;

    if (!packed->failed)
        window->plan.made(window->plan.context, &window->profile, packed->data, packed->length);
}

uint32_t push_window_step(struct push_window *window)
{
    bool ended = false, broken;

    if (!window->client && !begin_profile(window)) {
        window->failed++;
        next_kind(window);
        return WORK_MS;
    }
    for (int i = 0; i < PIECES && !ended && client_wants_send(window->client); i++)
        ended = take_piece(window);
    broken = is_broken(window);
    if (ended && client_pulled_samples(window->client))
        hand_over(window);
    window->failed += broken;
    if (ended || broken)
        next_kind(window);
    else if (!client_wants_send(window->client)) {
        web_poll(window->plan.web); /* names may have come, or are late */
        return LOOK_MS;
    }
    return WORK_MS;
}

void push_window_hurry(struct push_window *window, int64_t names_us)
{
    if (window->client)
        client_pull_hurry(window->client, names_us);
}

void push_window_stalls(struct push_window *window)
{
    struct pull_attribute resource[PUSH_LABELS_MAX];
    const struct pull_otlp otlp = { resource, list_resource(window, resource), { 0 } };
    struct json_text logs = { 0 };
    const uint8_t *packed;
    size_t size;

    if (!window->stalls)
        return;
    set_profile(window, PUSH_STALLS);
    if (stall_logs_take(window->stalls, window->plan.service, &otlp, window->span.epoch_us,
                        &logs) &&
        !logs.failed && gzip_new(&window->gzip) == 0 &&
        gzip_pack(window->gzip, logs.data, logs.length, true, &packed, &size) == 0) {
        json_text_raw(&window->packed, (const char *)packed, size);
        hand_over(window);
    }
    json_text_free(&logs);
    push_window_drop(window);
}

bool push_window_stalls_wait(const struct push_window *window)
{
    return window->stalls && stall_logs_wait(window->stalls);
}

unsigned push_window_failed(const struct push_window *window)
{
    return window->failed;
}

#include "pull.h"

#include "../client/saved.h"
#include "../pprof/otlp_attributes.h"
#include "../pprof/otlp_fields.h"
#include "../pprof/otlp_writer.h"
#include "../samples/sample_words.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"

#include <inttypes.h>
#include <stdlib.h>

/* For names, beyond the window: a quarter of it. `go tool pprof` waits for half of it. */
enum {
    NAMES_US_MIN = 250 * 1000,
    NAMES_US_MAX = 10 * 1000 * 1000,
    NAMES_PART = 4,
};

enum pull_state {
    PULL_WAITS, /* for its window's end */
    PULL_DUE,   /* has not begun, as others are at work */
    PULL_TAKES,
    PULL_NAMES, /* waits for names that it asked for */
    PULL_SUMS,
    PULL_HANDED, /* the reply is the outbox's */
};

struct pull {
    const struct pull_path *path;
    struct pprof_profile *profile; /* NULL: handed over */
    struct snapshot *snapshot;     /* of the kind that is taken or summed up */
    unsigned kind, kind_count;
    uint32_t cursor;
    struct process_info process; /* of the sample before */
    enum pull_state state;
    bool whole; /* all that is kept */
    bool lived; /* a process has, since it began */
    int64_t begin_us, end_us, names_us, names_until_us;
    uint64_t evicted; /* when it began */
    uint32_t samples; /* entries of what was handed over */
    uint64_t polls;   /* when names were asked for */
};

static bool any_lives(const struct service *service)
{
    for (size_t i = 0; i < service->isolates.now.count; i++)
        if (service->isolates.now.items[i].live)
            return true;
    return false;
}

static uint64_t evicted_of(const struct service *service)
{
    uint64_t evicted = 0;

    for (size_t i = 0; i < service->isolates.now.count; i++)
        evicted += service->isolates.now.items[i].evicted;
    return evicted;
}

/* A sample stands for a period of wall time in wall mode only. */
static bool is_sampled(const struct service *service, const struct pull_path *path)
{
    return path->amount == PULL_WEIGHTS ||
           profile_settings(service->options.profile).mode == FEED_MODE_WALL;
}

/* Why there is nothing in it. */
static void comment_nothing(struct service *service, struct pull *pull)
{
    struct feed_settings settings = profile_settings(service->options.profile);
    enum sample_kind kind = pull->path->kinds[0];

    if (!pull->path->kind_count)
        pprof_comment(pull->profile, "isoscope takes no such profile; it is empty");
    else if (service->saved)
        return;
    else if (sample_kind_is_memory(kind) && !settings.allocation_bytes)
        pprof_comment(pull->profile, "allocations are not sampled: run the program with --alloc");
    else if (!pull->kind_count)
        pprof_comment(pull->profile,
                      "threads that wait are not sampled: run the program with --mode wall");
    else if (sample_kind_is_waits(kind) && !settings.lock_us)
        pprof_comment(pull->profile, "waits are not sampled: run the program with --lock");
    else if (kind == SAMPLES_OF_FAULTS && !settings.faults)
        pprof_comment(pull->profile, "page faults are not sampled: run the program with --faults");
}

static uint64_t period_of(struct service *service, const struct pull *pull)
{
    struct feed_settings settings = profile_settings(service->options.profile);

    if (!pull->path->kind_count || sample_kind_is_waits(pull->path->kinds[0]))
        return 1;
    if (pull->path->kinds[0] == SAMPLES_OF_FAULTS)
        return settings.faults;
    return sample_kind_is_memory(pull->path->kinds[0]) ? settings.allocation_bytes
                                                       : settings.period_us * UINT64_C(1000);
}

/* What is asked for, on the service's clock. */
static void set_window(struct service *service, struct pull *pull, const struct pull_wish *wish)
{
    int64_t seconds_us = wish->seconds * INT64_C(1000000);

    pull->whole =
        !pull->path->kind_count || (!wish->until_us && (service->saved || !wish->seconds));
    pull->begin_us = wish->until_us ? wish->from_us : service_now_us(service);
    pull->end_us =
        wish->until_us ? wish->until_us : pull->begin_us + (pull->whole ? 0 : seconds_us);
}

static void prepare_otlp(struct service *service, struct pprof_profile *profile,
                         const struct pull_otlp *otlp)
{
    profile->tables.fields = &otlp_table_fields;
    profile->samples.stacks_bytes_max = OTLP_STACKS_BYTES;
    profile->version = service->options.version;
    memcpy(profile->id, otlp->id, sizeof(profile->id));
    for (size_t i = 0; i < otlp->resource_count; i++)
        otlp_key_value(&profile->resource, OTLP_RESOURCE_ATTRIBUTES, otlp->resource[i].name,
                       otlp->resource[i].text, otlp->resource[i].number);
}

struct pull *pull_new(struct service *service, const struct pull_path *path,
                      const struct pull_wish *wish)
{
    struct pull *pull = calloc(1, sizeof(*pull));

    if (pull)
        pull->profile = calloc(1, sizeof(*pull->profile));
    if (!pull || !pull->profile) {
        free(pull);
        return NULL;
    }
    pull->path = path;
    pull->names_us = wish->names_us;
    pull->kind_count = is_sampled(service, path) ? path->kind_count : 0;
    set_window(service, pull, wish);
    pull->profile->samples.few = wish->few_labels;
    pull->evicted = evicted_of(service);
    pull->profile->columns = &path->columns;
    pull->profile->default_type = path->default_type;
    pull->profile->tables.places = &service->places;
    pull->profile->tables.fields = &pprof_table_fields;
    pull->profile->samples.stacks_bytes_max = PPROF_STACKS_BYTES;
    if (wish->otlp)
        prepare_otlp(service, pull->profile, wish->otlp);
    pull->profile->period = period_of(service, pull);
    pprof_comment(pull->profile, "isoscope %s", service->options.version);
    comment_nothing(service, pull);
    pull_poll(service, pull);
    return pull;
}

static bool is_at_work(const struct pull *pull)
{
    return pull->state > PULL_DUE;
}

void pull_free(struct service *service, struct pull *pull)
{
    if (!pull)
        return;
    if (is_at_work(pull))
        service->pulls_at_work--;
    snapshot_free(pull->snapshot);
    pprof_profile_free(pull->profile);
    free(pull);
}

/* Its window is over. */
static void fall_due(const struct service *service, struct pull *pull)
{
    int64_t now_us = service_now_us(service);
    int64_t grace_us = (pull->end_us - pull->begin_us) / NAMES_PART;

    if (pull->whole || grace_us > NAMES_US_MAX)
        grace_us = NAMES_US_MAX;
    if (grace_us < NAMES_US_MIN)
        grace_us = NAMES_US_MIN;
    if (pull->names_us)
        grace_us = pull->names_us;
    if (now_us < pull->end_us && !service->saved)
        pull->end_us = now_us;
    pull->names_until_us = now_us + grace_us;
    pull->state = PULL_DUE;
}

void pull_poll(struct service *service, struct pull *pull)
{
    int64_t now_us = service_now_us(service);
    bool lives = any_lives(service);

    if (pull->state == PULL_WAITS) {
        pull->lived |= lives;
        if (service->saved || now_us >= pull->end_us || (pull->lived && !lives))
            fall_due(service, pull);
        else
            service_poll_in(service, pull->end_us - now_us);
    } else if (pull->state == PULL_NAMES) {
        pull->state = PULL_TAKES;
    }
    if (pull->state == PULL_DUE || pull->state == PULL_TAKES)
        if (pull->names_until_us > now_us)
            service_poll_in(service, pull->names_until_us - now_us);
}

void pull_hurry(struct service *service, struct pull *pull, int64_t names_us)
{
    int64_t until_us = service_now_us(service) + names_us;

    pull->names_us = names_us;
    if (pull->state == PULL_WAITS || pull->names_until_us < until_us)
        return;
    pull->names_until_us = until_us;
    service_poll_in(service, names_us);
}

bool pull_works(const struct service *service, const struct pull *pull)
{
    if (pull->state == PULL_DUE)
        return service->pulls_at_work < PULLS_AT_WORK_MAX;
    return pull->state == PULL_TAKES || pull->state == PULL_SUMS;
}

static void begin_work(struct service *service, struct pull *pull)
{
    service->pulls_at_work++;
    pull->state = PULL_TAKES;
    if (!service->saved)
        profile_sync(service->options.profile);
    if (service_now_us(service) >= pull->names_until_us) /* it waited long for its turn */
        pull->names_until_us = service_now_us(service) + NAMES_US_MIN;
}

static int begin_snapshot(struct service *service, struct pull *pull)
{
    const struct snapshot_window window = {
        .kind = pull->path->kinds[pull->kind],
        .bounded = !pull->whole,
        .origin_us = pull->begin_us,
        .extent_us = pull->end_us - pull->begin_us - 1, /* the end is the next one's */
        .partial_names_ok = service_now_us(service) >= pull->names_until_us && !service->saved,
    };

    pull->polls = service->polls;
    return snapshot_begin(&pull->snapshot, service->options.profile, &window);
}

static void drop_snapshot(struct pull *pull)
{
    snapshot_free(pull->snapshot);
    pull->snapshot = NULL;
}

static void open_snapshot(struct service *service, struct pull *pull)
{
    const struct process_info *program = isolates_main(&service->isolates);

    pprof_tables_open(&pull->profile->tables, pull->snapshot, program ? program->exe : "");
    if (pull->whole && snapshot_sample_count(pull->snapshot)) {
        int64_t first_us = snapshot_first_us(pull->snapshot);

        if (!pull->kind || first_us < pull->begin_us)
            pull->begin_us = first_us;
        if (!pull->kind || snapshot_last_us(pull->snapshot) > pull->end_us)
            pull->end_us = snapshot_last_us(pull->snapshot);
    }
    pull->cursor = 0;
    pull->state = PULL_SUMS;
}

/* In as many turns as it needs. Negative: an error. */
static int take(struct service *service, struct pull *pull)
{
    int status = pull->snapshot ? 0 : begin_snapshot(service, pull);

    if (!status)
        status = snapshot_step(pull->snapshot, &service->work);
    if (status > 0)
        return 0;
    if (!status) {
        open_snapshot(service, pull);
        return 0;
    }
    drop_snapshot(pull);
    if (status != -ISOSCOPE_PENDING)
        return status;
    if (pull->polls == service->polls) /* else they may have come meanwhile */
        pull->state = PULL_NAMES;
    work_end(&service->work);
    return 0;
}

/* What the bounded store let go of it. */
static void comment_evicted(struct service *service, struct pull *pull)
{
    struct profile_history history = profile_history(service->options.profile);
    bool some = pull->whole ? evicted_of(service) > 0 : evicted_of(service) > pull->evicted;

    if (pull->path->kind_count && pull->path->kinds[0] == SAMPLES_OF_TIME && some &&
        (pull->whole || history.first_us > pull->begin_us))
        pprof_comment(pull->profile, "the oldest samples are not in it: they were no longer kept "
                                     "(--history)");
}

static void hand_over(struct client *client, struct pull *pull)
{
    struct service *service = client->service;
    struct pprof_profile *profile = pull->profile;
    struct reply_stream *stream;

    pull->samples = pprof_samples_count(&profile->samples);
    comment_evicted(service, pull);
    if (profile->samples.overflowed)
        pprof_comment(profile,
                      "more different stacks than fit into %d MiB: the rest is counted for "
                      "\"%s\"",
                      (int)(profile->samples.stacks_bytes_max >> 20), PPROF_OTHERS);
    profile->time_ns =
        (uint64_t)(service->monotonic_to_epoch_ms * INT64_C(1000000) + pull->begin_us * 1000);
    profile->duration_ns = (uint64_t)(pull->end_us - pull->begin_us) * 1000;
    stream = profile->tables.fields == &otlp_table_fields ? otlp_writer_new(profile)
                                                          : pprof_writer_new(profile);
    pull->profile = NULL;
    pull->state = PULL_HANDED;
    if (!stream || outbox_push_samples(&client->outbox, stream) < 0)
        client_close(client, CLOSE_NO_MEMORY, "out of memory");
}

static bool is_off_cpu(uint8_t state)
{
    return state != FEED_STATE_RUNNING && state != FEED_STATE_GIL_HELD;
}

/* Gives it the amount that the path is about. False: it is not about this sample. */
static bool set_amount(const struct pull *pull, struct snapshot_sample *sample)
{
    switch (pull->path->amount) {
    case PULL_WEIGHTS:
        /* OTLP's receivers multiply samples by the period: one that slept is none of CPU time. */
        return pull->profile->tables.fields != &otlp_table_fields ||
               pull->path->kinds[pull->kind] != SAMPLES_OF_TIME || sample->weight ||
               !is_off_cpu(sample->state);
    case PULL_OFF_CPU:
        if (!is_off_cpu(sample->state))
            return false;
        break;
    case PULL_WALL:
        break;
    }
    sample->weight = snapshot_period_us(pull->snapshot) * UINT64_C(1000);
    return true;
}

static void add(struct service *service, struct pull *pull, struct snapshot_sample *sample)
{
    uint32_t work;

    if (!set_amount(pull, sample))
        return work_off(&service->work, 1);
    if (pull->process.id != sample->process_id) {
        pull->process = (struct process_info){ .id = sample->process_id };
        profile_process(service->options.profile, sample->process_id, &pull->process);
    }
    /* How many page faults one stands for is its weight. */
    if (!sample_kind_is_many(pull->path->kinds[pull->kind]) ||
        pull->path->kinds[pull->kind] == SAMPLES_OF_FAULTS)
        sample->objects = 1;
    work = pprof_samples_add(&pull->profile->samples, &pull->profile->tables, sample,
                             &pull->process, sample_vm_tag(sample->state), pull->kind);
    work_off(&service->work, work);
}

/* True: all samples of the kind are in. */
static bool sum_up(struct service *service, struct pull *pull)
{
    struct snapshot_sample sample;

    while (service->work > 0) {
        if (!snapshot_ready(pull->snapshot, pull->cursor, &service->work))
            return false;
        if (!snapshot_next(pull->snapshot, &pull->cursor, &sample))
            return true;
        add(service, pull, &sample);
    }
    return false;
}

static void next_kind(struct client *client, struct pull *pull)
{
    drop_snapshot(pull);
    pull->kind++;
    pull->state = PULL_TAKES;
    if (pprof_samples_failed(&pull->profile->samples) ||
        pprof_tables_failed(&pull->profile->tables))
        return client_close(client, CLOSE_NO_MEMORY, "out of memory");
}

void pull_work(struct client *client, struct pull *pull)
{
    struct service *service = client->service;
    int status = 0;

    if (pull->state == PULL_DUE)
        begin_work(service, pull);
    while (pull->state == PULL_TAKES || pull->state == PULL_SUMS) {
        if (client->closing_code || service->work <= 0)
            return;
        if (pull->kind == pull->kind_count)
            return hand_over(client, pull);
        if (pull->state == PULL_TAKES)
            status = take(service, pull);
        else if (sum_up(service, pull))
            next_kind(client, pull);
        if (status < 0)
            return client_close(client, CLOSE_NO_MEMORY,
                                status == -ISOSCOPE_DAMAGED ? "the session is damaged"
                                                            : "out of memory");
    }
}

uint32_t pull_samples(const struct pull *pull)
{
    return pull->samples;
}

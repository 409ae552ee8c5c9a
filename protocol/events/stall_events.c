#include "stall_events.h"

#include "log_records.h"
#include "streams.h"
#include "../client/client.h"
#include "../stalls/stall_json.h"
#include "../stalls/stall_text.h"
#include "../stalls/stall_words.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_STALL = 1 << 13, RETRY_US = 10000, CPU_HIGH_MAX = 16 };

struct known_stall {
    uint64_t number;
    uint32_t updates; /* that were told */
    bool begun;       /* so it was told */
    bool ended;
};

struct stall_events {
    uint64_t change; /* up to it all is told */
    uint64_t floor;  /* of those up to this number, only those in known have not ended */
    struct known_stall *known;
    size_t count, capacity;
    uint64_t cpu_high; /* number of the last one that was told */
};

struct stall_events *stall_events_new(void)
{
    return calloc(1, sizeof(struct stall_events));
}

void stall_events_free(struct stall_events *events)
{
    if (events)
        free(events->known);
    free(events);
}

static struct known_stall *find(struct stall_events *events, uint64_t number)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->known[i].number == number)
            return &events->known[i];
    return NULL;
}

/* NULL: out of memory. */
static struct known_stall *add(struct stall_events *events, uint64_t number)
{
    if (events->count == events->capacity) {
        size_t capacity = events->capacity ? 2 * events->capacity : 8;
        struct known_stall *known = reallocarray(events->known, capacity, sizeof(*known));

        if (!known)
            return NULL;
        events->known = known;
        events->capacity = capacity;
    }
    events->known[events->count] = (struct known_stall){ .number = number };
    return &events->known[events->count++];
}

/* NULL: nobody knows it (any more). */
static const struct isolate *isolate_of(struct service *service, uint64_t process_id)
{
    const struct isolate *isolate = isolates_find(&service->isolates, (int64_t)process_id);

    if (isolate || service_refresh(service) < 0)
        return isolate;
    return isolates_find(&service->isolates, (int64_t)process_id);
}

static void log_stall(struct service *service, const struct stall *stall)
{
    const struct isolate *isolate = isolate_of(service, stall->process_id);
    char message[STALL_TEXT_MAX];
    char *stack;

    if (!isolate)
        return;
    stack = stall_stack_text(stall);
    stall_message(message, stall, isolate->process->name, isolate->process->pid);
    log_record(service, isolate,
               &(struct log_words){
                   .level = LEVEL_SEVERE, .logger = "stall", .message = message, .error = stack });
    free(stack);
}

/* Takes over data. False: there is no room for it now. */
static bool post(struct service *service, const char *kind, json_t *data)
{
    bool posted = data && streams_posted(service, STREAM_ID_EXTENSION, kind, data);

    json_decref(data);
    return posted;
}

static bool tell(struct service *service, const struct stall *stall, const char *kind)
{
    int32_t pid = stall_pid(service->options.profile, stall->process_id);

    if (!post(service, kind, stall_json(stall, pid, false)))
        return false;
    log_stall(service, stall);
    work_off(&service->work, WORK_STALL);
    return true;
}

/* False: it is to be tried again, and all behind it. */
static bool tell_course(struct service *service, const struct stall *stall,
                        struct known_stall *known)
{
    if (!known->begun && stall->told) {
        if (!tell(service, stall, "Isoscope.Stall.Begin"))
            return false;
        known->begun = true;
        known->updates = stall->updates;
    }
    if (known->begun && stall->ongoing && stall->updates != known->updates) {
        if (!tell(service, stall, "Isoscope.Stall.Update"))
            return false;
        known->updates = stall->updates;
    }
    if (known->begun && !stall->ongoing && !tell(service, stall, "Isoscope.Stall.End"))
        return false;
    known->ended = !stall->ongoing;
    return true;
}

static bool tell_stall(struct service *service, const struct stall *stall)
{
    struct stall_events *events = service->stall_events;
    struct known_stall *known = find(events, stall->number);

    if (!known && stall->number <= events->floor)
        return true; /* its end was told; more became known of it */
    if (!known)
        known = add(events, stall->number);
    return known && (known->ended || tell_course(service, stall, known));
}

/* All that came up to now was looked at, so what is not known any more has ended. */
static void forget_ended(struct stall_events *events)
{
    size_t kept = 0;

    for (size_t i = 0; i < events->count; i++) {
        const struct known_stall *known = &events->known[i];

        if (known->number > events->floor)
            events->floor = known->number;
        if (!known->ended)
            events->known[kept++] = *known;
    }
    events->count = kept;
}

static void tell_stalls(struct service *service)
{
    struct stall_events *events = service->stall_events;
    struct stalls_window window = { .since = events->change };
    struct stalls *stalls = NULL;
    size_t count, told = 0;

    if (stalls_take(&stalls, service->options.profile, &window) < 0)
        return service_poll_in(service, RETRY_US);
    count = stalls_count(stalls);
    while (told < count && tell_stall(service, stalls_at(stalls, told)))
        events->change = stalls_at(stalls, told++)->change;
    if (told == count) {
        events->change = stalls_change(stalls);
        forget_ended(events);
    } else {
        service_poll_in(service, RETRY_US);
    }
    stalls_free(stalls);
}

static void log_cpu_high(struct service *service, const struct cpu_high *high, const char *thread)
{
    const struct isolate *isolate = isolate_of(service, high->process_id);
    char message[STALL_TEXT_MAX];

    if (!isolate)
        return;
    cpu_high_message(message, high, isolate->process->name, isolate->process->pid, thread);
    log_record(service, isolate,
               &(struct log_words){ .level = LEVEL_SEVERE, .logger = "cpu", .message = message });
}

static bool tell_cpu_high(struct service *service, const struct cpu_high *high)
{
    struct profile *profile = service->options.profile;
    char thread[THREAD_NAME_BYTES];

    thread_name_of(thread, profile, high->process_id, high->tid);
    if (!post(service, "Isoscope.CpuHigh",
              cpu_high_json(high, stall_pid(profile, high->process_id), thread)))
        return false;
    log_cpu_high(service, high, thread);
    return true;
}

static void tell_cpu_highs(struct service *service)
{
    struct stall_events *events = service->stall_events;
    struct cpu_high high[CPU_HIGH_MAX];
    size_t count = profile_cpu_high(service->options.profile, events->cpu_high, high, CPU_HIGH_MAX);

    for (size_t i = 0; i < count && i < CPU_HIGH_MAX; i++) {
        if (!tell_cpu_high(service, &high[i]))
            return service_poll_in(service, RETRY_US);
        events->cpu_high = high[i].number;
    }
    if (count > CPU_HIGH_MAX)
        service_poll_in(service, RETRY_US);
}

void stall_events_poll(struct service *service)
{
    if (service->saved) /* its stalls were told when they came */
        return;
    if (profile_stalls_change(service->options.profile) != service->stall_events->change)
        tell_stalls(service);
    tell_cpu_highs(service);
}

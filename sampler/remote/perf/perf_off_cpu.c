#include "perf_off_cpu.h"

#include "perf_events.h"
#include "perf_sample.h"
#include "perf_tracepoints.h"

#include "../../feed/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS_FIRST = 1024, COPIES_MOST = 2000 /* in a second */ };

#define SECOND_NS INT64_C(1000000000)

/* Of include/linux/sched.h, as tracepoints have them for good. */
enum { STATE_SLEEP = 1, STATE_DISK = 2, STATE_STOPPED = 4 | 8 };
/* Of each tracepoint's data: common_flags, and those of an interrupt's code. */
enum { FLAGS_AT = 2, FLAGS_INTERRUPT = 0x08 | 0x10 };

struct place {
    uint64_t at_ns;
    const struct perf_event_header *record;
    bool is_wakeup;
};

struct perf_off_cpu {
    struct perf_tracepoints tracepoints;
    struct perf_events switches, wakeups;
    struct place *places;
    size_t count, room;
    /* One of so many switches is copied; those that there were since then. */
    uint64_t period, switches_seen;
    int64_t judged_ns;
};

struct lost_body {
    uint64_t id, lost;
};

bool perf_off_cpu_may(pid_t pid, struct refusal *why)
{
    struct perf_off_cpu *off_cpu = NULL;
    int problem = perf_off_cpu_new(&off_cpu, PERF_STACK_FIRST, false);

    if (!problem)
        problem = perf_off_cpu_add(off_cpu, pid);
    perf_off_cpu_free(off_cpu);
    if (!problem)
        return true;
    if (problem == EPERM)
        return refusal_say(
            why,
            "the kernel does not show where process %d gives its processor away: a seccomp filter "
            "forbids perf events",
            (int)pid);
    if (problem == EACCES)
        return refusal_say(
            why,
            "the kernel does not show where process %d gives its processor away: that "
            "asks for root, or for kernel.perf_event_paranoid of 1 or less",
            (int)pid);
    return refusal_say(why, "waits of process %d cannot be seen: %s", (int)pid, strerror(problem));
}

int perf_off_cpu_new(struct perf_off_cpu **out, uint32_t stack_bytes, bool kernel)
{
    struct perf_off_cpu *off_cpu = calloc(1, sizeof(*off_cpu));
    struct perf_wish wish;
    int problem;

    if (!off_cpu)
        return ENOMEM;
    perf_tracepoints_find(&off_cpu->tracepoints);
    off_cpu->period = 1;
    wish = (struct perf_wish){ .what = PERF_SWITCHES,
                               .stack_bytes = stack_bytes,
                               .kernel = kernel,
                               .tracepoint = off_cpu->tracepoints.switches };
    problem = perf_events_open(&off_cpu->switches, &wish);
    wish = (struct perf_wish){ .what = PERF_WAKEUPS, .tracepoint = off_cpu->tracepoints.wakeups };
    if (!problem && wish.tracepoint)
        problem = perf_events_open(&off_cpu->wakeups, &wish);
    if (problem)
        perf_off_cpu_free(off_cpu);
    else
        *out = off_cpu;
    return problem;
}

void perf_off_cpu_free(struct perf_off_cpu *off_cpu)
{
    if (!off_cpu)
        return;
    perf_events_close(&off_cpu->switches);
    perf_events_close(&off_cpu->wakeups);
    free(off_cpu->places);
    free(off_cpu);
}

int perf_off_cpu_add(struct perf_off_cpu *off_cpu, pid_t tid)
{
    int problem = perf_events_add(&off_cpu->switches, tid);

    return problem || !off_cpu->wakeups.rings ? problem : perf_events_add(&off_cpu->wakeups, tid);
}

static bool note(struct perf_off_cpu *off_cpu, struct place place)
{
    if (off_cpu->count == off_cpu->room) {
        size_t room = off_cpu->room ? 2 * off_cpu->room : RECORDS_FIRST;
        struct place *grown = reallocarray(off_cpu->places, room, sizeof(*grown));

        if (!grown)
            return false;
        off_cpu->places = grown;
        off_cpu->room = room;
    }
    off_cpu->places[off_cpu->count++] = place;
    return true;
}

/* Samples begin with it, all others end with it. */
static const struct perf_sample_head *head_of(const struct perf_event_header *record)
{
    if (record->size < sizeof(*record) + sizeof(struct perf_sample_head))
        return NULL;
    return record->type == PERF_RECORD_SAMPLE
               ? (const void *)(record + 1)
               : (const void *)((const uint8_t *)record + record->size -
                                sizeof(struct perf_sample_head));
}

static void gather(struct perf_off_cpu *off_cpu, struct perf_events *events)
{
    const struct perf_event_header *record;

    for (uint32_t i = 0; i < events->processors; i++) {
        if (!events->rings[i].head_page)
            continue;
        perf_ring_begin(&events->rings[i]);
        while ((record = perf_ring_next(&events->rings[i]))) {
            const struct perf_sample_head *head = head_of(record);

            if (head &&
                !note(off_cpu, (struct place){ head->at_ns, record, events == &off_cpu->wakeups }))
                return;
        }
    }
}

static void release(struct perf_events *events)
{
    for (uint32_t i = 0; i < events->processors; i++)
        if (events->rings[i].head_page)
            perf_ring_release(&events->rings[i]);
}

static int by_time(const void *one, const void *other)
{
    const struct place *a = one, *b = other;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

/* A value of size bytes in a tracepoint's data; 0: it is not there. */
static uint64_t value_at(const struct perf_sample *sample, uint32_t at, uint32_t size)
{
    uint64_t value = 0;

    if (size > sizeof(value) || at + size > sample->raw_bytes)
        return 0;
    memcpy(&value, sample->raw + at, size); /* little endian, as all that we run on */
    return value;
}

static uint32_t what_of(uint64_t state)
{
    return state & STATE_DISK      ? FEED_WAIT_DISK
           : state & STATE_SLEEP   ? FEED_WAIT_SLEEP
           : state & STATE_STOPPED ? FEED_WAIT_STOPPED
                                   : FEED_WAIT_PROCESSOR;
}

static void take_left(const struct perf_off_cpu *off_cpu, const struct perf_event_header *record,
                      struct target *target, struct perf_off_cpu_cost *cost)
{
    const struct perf_tracepoints *tracepoints = &off_cpu->tracepoints;
    struct perf_sample sample;
    struct target_sample from;
    ucontext_t registers;
    uint32_t what;

    if (!perf_sample_read(record, &off_cpu->switches.wish, &sample) || !sample.registers)
        return;
    what = sample.raw ? what_of(value_at(&sample, tracepoints->state_at, tracepoints->state_size))
                      : FEED_WAIT_BLOCKED;
    from = perf_sample_target(&sample, &registers);
    cost->copies++;
    cost->cut += target_left(target, &from, what) == TARGET_CUT;
}

/* The sample is of who runs; the thread that is woken stands in its data. In an interrupt nobody wakes it: time or a device does. */
static void take_wakeup(const struct perf_off_cpu *off_cpu, const struct perf_event_header *record,
                        const struct perf_off_cpu_owner *owner)
{
    struct perf_sample sample;
    uint64_t woken, flags;

    if (!perf_sample_read(record, &off_cpu->wakeups.wish, &sample))
        return;
    woken = value_at(&sample, off_cpu->tracepoints.woken_at, sizeof(int32_t));
    flags = value_at(&sample, FLAGS_AT, sizeof(uint8_t));
    if (woken && woken <= INT32_MAX)
        owner->woken(owner->context, (pid_t)woken,
                     flags & FLAGS_INTERRUPT ? 0 : (pid_t)sample.head->tid);
}

static void take_switch(struct perf_off_cpu *off_cpu, const struct perf_event_header *record,
                        struct target *target)
{
    const struct perf_sample_head *head = head_of(record);

    if (!(record->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
        target_back(target, (pid_t)head->tid, (int64_t)head->at_ns);
        return;
    }
    off_cpu->switches_seen++;
    target_away(target, (pid_t)head->tid);
}

static void take(struct perf_off_cpu *off_cpu, const struct place *place,
                 const struct perf_off_cpu_owner *owner, struct perf_off_cpu_cost *cost)
{
    const struct perf_sample_head *head = head_of(place->record);
    struct target *target;

    if (place->is_wakeup) {
        if (place->record->type == PERF_RECORD_SAMPLE)
            take_wakeup(off_cpu, place->record, owner);
        return;
    }
    if (place->record->type == PERF_RECORD_LOST) {
        cost->lost += ((const struct lost_body *)(place->record + 1))->lost;
        return;
    }
    target = owner->target_of(owner->context, (pid_t)head->pid);
    if (!target)
        return;
    if (place->record->type == PERF_RECORD_SAMPLE)
        take_left(off_cpu, place->record, target, cost);
    else if (place->record->type == PERF_RECORD_SWITCH)
        take_switch(off_cpu, place->record, target);
}

/* Another number each second, so that what repeats itself is not always met in the same place. */
static void choose_period(struct perf_off_cpu *off_cpu, int64_t now_ns)
{
    uint64_t wanted = off_cpu->switches_seen / COPIES_MOST + 1;

    if (now_ns - off_cpu->judged_ns < SECOND_NS)
        return;
    if (wanted > 1 && wanted == off_cpu->period)
        wanted++;
    if (wanted != off_cpu->period)
        perf_events_set_period(&off_cpu->switches, wanted);
    off_cpu->period = wanted;
    off_cpu->switches_seen = 0;
    off_cpu->judged_ns = now_ns;
}

void perf_off_cpu_drain(struct perf_off_cpu *off_cpu, const struct perf_off_cpu_owner *owner,
                        int64_t now_ns, struct perf_off_cpu_cost *cost)
{
    off_cpu->count = 0;
    gather(off_cpu, &off_cpu->switches);
    gather(off_cpu, &off_cpu->wakeups);
    qsort(off_cpu->places, off_cpu->count, sizeof(*off_cpu->places), by_time);
    for (size_t i = 0; i < off_cpu->count; i++)
        take(off_cpu, &off_cpu->places[i], owner, cost);
    release(&off_cpu->switches);
    release(&off_cpu->wakeups);
    choose_period(off_cpu, now_ns);
}

size_t perf_off_cpu_descriptors(const struct perf_off_cpu *off_cpu, int *out, size_t room)
{
    size_t count = 0;

    for (uint32_t i = 0; i < off_cpu->switches.processors && count < room; i++)
        if (off_cpu->switches.ring_fds[i] >= 0)
            out[count++] = off_cpu->switches.ring_fds[i];
    return count;
}

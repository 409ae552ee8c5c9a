#include "drain.h"

#include "../../include/isoscope/isoscope.h"
#include "../outside/thread_names.h"
#include "../store/weigh.h"
#include "../symbols/key_sort.h"
#include "process_events.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* A full ring holds fewer; more in one round means that its writer makes them up. */
    SLOT_RECORDS_MAX = FEED_RING_BYTES / sizeof(struct feed_timed),
    SLOT_EVENTS_MAX = FEED_EVENT_RING_BYTES / sizeof(struct feed_event),
    SLEEPERS_MAX = 1 << 20,
    /* What is taken before it is sorted and stored: 4 MB of frames. */
    TAKEN_FRAMES_MAX = 512 * 1024,
    TAKEN_SAMPLES_MAX = 64 * 1024,
};

/* Which store a sample goes to, by why it was taken. */
static const enum sample_kind kinds[FEED_KIND_COUNT] = {
    [FEED_KIND_CPU] = SAMPLES_OF_TIME,     [FEED_KIND_WALL] = SAMPLES_OF_TIME,
    [FEED_KIND_STALL] = SAMPLES_OF_STALLS, [FEED_KIND_ALLOCATION] = SAMPLES_OF_ALLOCATIONS,
    [FEED_KIND_LOCK] = SAMPLES_OF_LOCKS,   [FEED_KIND_WAIT] = SAMPLES_OF_WAITS,
    [FEED_KIND_FAULT] = SAMPLES_OF_FAULTS,
};
/* A year. */
#define WAIT_NS_MAX      (UINT64_C(31536000) * 1000 * 1000 * 1000)
#define WAITS_IN_ONE_MAX (1u << 20)

/* Of ring 0, where it tells of rounds of wall mode. */
static const enum sample_kind asleep_kind = SAMPLES_OF_TIME;

struct drain {
    const struct stores *stores;
    struct event_store *events;
    struct streams *streams;
    struct registry *registry;
    struct symbolizer *symbolizer;
    struct store_sample *samples; /* their threads are held */
    struct sort_key *order;       /* theirs, by time */
    uint64_t *frames;             /* theirs, in the order of arrival */
    uint32_t sample_count, frame_count;
    uint64_t stored; /* since drain_flush */
};

int drain_new(struct drain **out, const struct drain_options *options)
{
    struct drain *drain = calloc(1, sizeof(*drain));

    if (!drain)
        return -ISOSCOPE_NO_MEMORY;
    /* Large enough once and for all; what no round needs is never touched. */
    drain->samples = calloc(TAKEN_SAMPLES_MAX, sizeof(*drain->samples));
    drain->order = calloc(TAKEN_SAMPLES_MAX, sizeof(*drain->order));
    drain->frames = calloc(TAKEN_FRAMES_MAX, sizeof(*drain->frames));
    drain->stores = options->stores;
    drain->events = options->events;
    drain->streams = options->streams;
    drain->registry = options->registry;
    drain->symbolizer = options->symbolizer;
    if (!drain->samples || !drain->order || !drain->frames) {
        drain_free(drain);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = drain;
    return 0;
}

void drain_free(struct drain *drain)
{
    if (!drain)
        return;
    for (uint32_t i = 0; i < drain->sample_count; i++)
        owner_thread_release(drain->samples[i].thread);
    free(drain->samples);
    free(drain->order);
    free(drain->frames);
    free(drain);
}

static void count_unstored_by(struct owner *owner, uint64_t samples)
{
    atomic_fetch_add_explicit(&owner->unstored, samples, memory_order_relaxed);
}

static void count_unstored(struct owner *owner)
{
    count_unstored_by(owner, 1);
}

/* Of one moment they stay in the order of arrival; out of memory, all do. */
static void order_by_time(struct drain *drain)
{
    for (uint32_t i = 0; i < drain->sample_count; i++)
        drain->order[i] = (struct sort_key){ (uint64_t)drain->samples[i].timestamp_us, i };
    key_sort(drain->order, drain->sample_count);
}

static void store_taken(struct drain *drain)
{
    order_by_time(drain);
    for (uint32_t i = 0; i < drain->sample_count; i++) {
        const struct store_sample *sample = &drain->samples[drain->order[i].number];

        if (store_add(drain->stores->of[sample->kind], sample) < 0)
            count_unstored(sample->thread->owner);
        else
            drain->stored++;
        owner_thread_release(sample->thread);
    }
    drain->sample_count = 0;
    drain->frame_count = 0;
}

/* Returns how many of the frames are the program's own. */
static uint32_t normalize(struct drain *drain, struct process *process,
                          const struct feed_sample *record, uint64_t *out)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < record->depth; i++)
        depth += process_frame(process, record->frames[i], drain->registry, drain->symbolizer,
                               &out[depth]);
    return depth;
}

static uint8_t state_in(const struct feed_sample *record)
{
    return record->state < 16 ? record->state : 15;
}

/* Its frames are among those taken so far, and stay there until they are stored. */
static void keep(struct drain *drain, const struct store_sample *sample)
{
    drain->samples[drain->sample_count++] = *sample;
    owner_thread_hold(sample->thread);
    if (drain->sample_count == TAKEN_SAMPLES_MAX ||
        drain->frame_count + FEED_DEPTH_MAX + 1 > TAKEN_FRAMES_MAX)
        store_taken(drain);
}

/* Its frames lie at the end of those taken so far. */
static void take(struct drain *drain, struct store_sample *sample)
{
    sample->frames = drain->frames + drain->frame_count;
    drain->frame_count += sample->depth;
    keep(drain, sample);
}

/* The record's stack, as often as it stands there. sample: the rest. */
static void take_stack(struct drain *drain, struct process *process,
                       const struct feed_sample *record, struct store_sample *sample)
{
    sample->depth = normalize(drain, process, record, drain->frames + drain->frame_count);
    if (sample->depth) /* else: in the sampler from top to bottom, nothing of the program */
        take(drain, sample);
}

/* In wall mode a tick answers for the rounds before it, each of which had its time. */
static void take_back(struct drain *drain, struct process *process,
                      const struct feed_sample *record, struct store_sample *sample,
                      uint32_t step_us)
{
    if (sample->timestamp_us > step_us)
        sample->timestamp_us -= step_us;
    take_stack(drain, process, record, sample);
}

/* The stores know the slot's thread by the name that it has now. */
static void meet_thread(struct drain *drain, struct process *process, struct process_slot *slot,
                        const struct feed_thread_view *view)
{
    if (slot->generation != view->generation) {
        process_slot_release(process, slot, view->start_us);
        if (process->events)
            sampling_events_thread(process, view, false, view->start_us);
    }
    slot->generation = view->generation;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        struct owner_thread *thread = slot->threads[kind];

        if (thread && strcmp(thread->name, view->name) != 0)
            store_rename(drain->stores->of[kind], thread, view->name);
    }
    if (slot->track && strcmp(slot->track->thread->name, view->name) != 0)
        event_store_rename(drain->events, slot->track->thread, view->name);
}

/* That thread in the store of a kind; NULL: out of memory. */
static struct owner_thread *thread_of(struct process *process, struct process_slot *slot,
                                      const struct feed_thread_view *view, enum sample_kind kind)
{
    if (!slot->threads[kind])
        owner_thread_new(&slot->threads[kind], process->owners.of[kind], view->tid, view->name);
    return slot->threads[kind];
}

static void take_sample(struct drain *drain, struct process *process, struct process_slot *slot,
                        const struct feed_thread_view *view, const struct feed_sample *record)
{
    enum sample_kind kind = kinds[record->kind];
    uint32_t step_us = record->kind == FEED_KIND_WALL ? rounds_period_us(process->wall) : 0;
    uint64_t part_ns = record->cpu_ns / (1u + record->more_running + record->more_runnable);
    struct store_sample sample = {
        .kind = kind,
        .thread = thread_of(process, slot, view, kind),
        .timestamp_us = record->timestamp_us,
        .weight = record->cpu_ns - part_ns * (record->more_running + record->more_runnable),
        .end = record->end,
        .state = state_in(record),
        .tag = process_name(process, record->tag, registry_names(drain->registry)),
    };

    if (!sample.thread) {
        count_unstored(process->owners.of[kind]);
        return;
    }
    take_stack(drain, process, record, &sample);
    sample.weight = part_ns;
    /* Who ran that stack with the interpreter's lock has it all the while. */
    if (sample.state != FEED_STATE_GIL_HELD)
        sample.state = FEED_STATE_RUNNING;
    for (uint32_t i = 0; i < record->more_running; i++)
        take_back(drain, process, record, &sample, step_us);
    sample.state = FEED_STATE_RUNNABLE;
    for (uint32_t i = 0; i < record->more_runnable; i++)
        take_back(drain, process, record, &sample, step_us);
}

static void follow_allocation(struct drain *drain, struct process *process,
                              struct process_slot *slot, const struct feed_thread_view *view,
                              const struct feed_sample *record, struct store_sample *sample)
{
    struct feed_allocation_words words = feed_sample_allocation(record);

    if (!feed_reader_allocation_lives(process->reader, words.mark))
        return; /* it was short */
    if (!process->live)
        process->live = live_set_new(drain->stores->live, process->owners.of[SAMPLES_OF_LIVE]);
    sample->kind = SAMPLES_OF_LIVE;
    sample->thread = thread_of(process, slot, view, SAMPLES_OF_LIVE);
    if (!process->live || !sample->thread ||
        live_set_add(process->live, words.mark, record->cpu_ns, words.mean_bytes, sample) < 0)
        count_unstored(process->owners.of[SAMPLES_OF_LIVE]);
}

/* False: there is no memory for its thread, which is counted. */
static bool begin_own(struct drain *drain, struct process *process, struct process_slot *slot,
                      const struct feed_thread_view *view, const struct feed_sample *record,
                      struct store_sample *out)
{
    enum sample_kind kind = kinds[record->kind];

    *out = (struct store_sample){
        .kind = kind,
        .thread = thread_of(process, slot, view, kind),
        .timestamp_us = record->timestamp_us,
        .end = record->end,
        .state = state_in(record),
        .tag = process_name(process, record->tag, registry_names(drain->registry)),
        .frames = drain->frames + drain->frame_count,
    };
    if (!out->thread)
        count_unstored(process->owners.of[kind]);
    return out->thread != NULL;
}

static void take_allocation(struct drain *drain, struct process *process, struct process_slot *slot,
                            const struct feed_thread_view *view, const struct feed_sample *record)
{
    struct feed_allocation_words words = feed_sample_allocation(record);
    struct store_sample sample;

    if (!begin_own(drain, process, slot, view, record, &sample))
        return;
    weigh(record->cpu_ns, words.mean_bytes, WEIGH_BYTES_MAX, &sample);
    sample.depth = normalize(drain, process, record, drain->frames + drain->frame_count);
    if (!sample.depth)
        return;
    take(drain, &sample);
    follow_allocation(drain, process, slot, view, record, &sample);
}

/* One of so many, by count: it stands for all of them. */
static void weigh_off_cpu(uint64_t waited_ns, uint64_t waits, struct store_sample *sample)
{
    if (!waits || waits > WAITS_IN_ONE_MAX)
        waits = 1;
    sample->weight = waited_ns < WAIT_NS_MAX / waits ? waited_ns * waits : WAIT_NS_MAX;
    sample->objects = (uint32_t)waits * CHUNK_OBJECT_PARTS;
}

/* What was waited for stands above the stack, as its leaf. */
static void take_wait(struct drain *drain, struct process *process, struct process_slot *slot,
                      const struct feed_thread_view *view, const struct feed_sample *record)
{
    struct feed_wait_words words = feed_sample_wait(record);
    uint64_t *frames = drain->frames + drain->frame_count;
    struct store_sample sample;

    if (!begin_own(drain, process, slot, view, record, &sample))
        return;
    if (feed_wait_is_off_cpu(words.what)) {
        weigh_off_cpu(record->cpu_ns, words.mean_ns, &sample);
    } else {
        weigh(record->cpu_ns, words.mean_ns, WAIT_NS_MAX, &sample);
        sample.state =
            FEED_STATE_LOCK; /* it is taken when the wait is over, and tells of the wait */
    }
    sample.wait = (struct sample_wait){ words.holder > 0 ? words.holder : 0, (uint8_t)words.what };
    frames[0] = process_lock_frame(process, &words, drain->registry, drain->symbolizer);
    sample.depth = 1 + normalize(drain, process, record, frames + 1);
    if (sample.depth > FEED_DEPTH_MAX)
        sample.depth = FEED_DEPTH_MAX;
    take(drain, &sample);
}

/* One of so many, by count: it stands for all of them. */
static void take_fault(struct drain *drain, struct process *process, struct process_slot *slot,
                       const struct feed_thread_view *view, const struct feed_sample *record)
{
    struct store_sample sample;

    if (!begin_own(drain, process, slot, view, record, &sample))
        return;
    sample.weight = record->cpu_ns < FEED_FAULTS_MAX ? record->cpu_ns : FEED_FAULTS_MAX;
    sample.objects = (uint32_t)sample.weight * CHUNK_OBJECT_PARTS;
    take_stack(drain, process, record, &sample);
}

/* Counts those with a time that cannot be. */
static bool is_possible(struct process *process, const union feed_any *record, int64_t possible_us)
{
    bool possible = record->timed.timestamp_us >= 0 && record->timed.timestamp_us <= possible_us;

    process->impossible += !possible;
    return possible;
}

/* Each type of record goes its own way from here. */
static void take_own(struct drain *drain, struct process *process, struct process_slot *slot,
                     const struct feed_thread_view *view, const union feed_any *record,
                     int64_t possible_us)
{
    if (!is_possible(process, record, possible_us))
        return;
    switch (record->head.type) {
    case FEED_RECORD_SAMPLE:
        if (record->sample.kind == FEED_KIND_ALLOCATION)
            take_allocation(drain, process, slot, view, &record->sample);
        else if (record->sample.kind == FEED_KIND_FAULT)
            take_fault(drain, process, slot, view, &record->sample);
        else if (feed_kind_is_own(record->sample.kind))
            take_wait(drain, process, slot, view, &record->sample);
        else
            take_sample(drain, process, slot, view, &record->sample);
        break;
    }
}

/* What a thread is called that the feed has no name of yet. */
static void complete_name(struct drain *drain, struct process *process, uint32_t number,
                          struct process_slot *slot, struct feed_thread_view *view)
{
    if (view->name[0])
        return;
    thread_name_complete(process->reader, number, process->pid, view);
    meet_thread(drain, process, slot, view);
}

/* Returns whether there were samples. */
static bool drain_samples(struct drain *drain, struct process *process, uint32_t number,
                          struct feed_thread_view *view, int64_t until_us, int64_t possible_us)
{
    struct process_slot *slot = process_slot(process, number);
    const union feed_any *record;
    uint32_t taken = 0;

    while (taken < SLOT_RECORDS_MAX &&
           (record = feed_reader_next(process->reader, number, until_us))) {
        if (!taken++)
            complete_name(drain, process, number, slot, view);
        take_own(drain, process, slot, view, record, possible_us);
    }
    return taken;
}

/* Returns whether there were events. */
static bool drain_events(struct drain *drain, struct process *process, uint32_t number,
                         struct feed_thread_view *view, int64_t possible_us)
{
    struct process_slot *slot = process_slot(process, number);
    struct process_events *events;
    struct feed_event_parts parts;
    uint32_t taken = 0;

    while (taken < SLOT_EVENTS_MAX && feed_reader_next_event(process->reader, number, &parts)) {
        if (!taken++)
            complete_name(drain, process, number, slot, view);
        events = process_events_of(process, drain->events, drain->streams);
        if (!events)
            event_store_refuse(drain->events);
        else if (!process_events_take(events, process, slot, view, &parts, possible_us * 1000))
            process->impossible++;
    }
    drain->stored += taken;
    return taken;
}

static void drain_slot(struct drain *drain, struct process *process, uint32_t number,
                       int64_t until_us, int64_t possible_us)
{
    struct process_slot *slot = process_slot(process, number);
    int64_t end_us = process->ended_us ? process->ended_us : until_us;
    struct feed_thread_view view;
    const union feed_any *record;
    bool any;

    if (!slot || !feed_reader_thread(process->reader, number, &view))
        return;
    meet_thread(drain, process, slot, &view);
    any = drain_samples(drain, process, number, &view, until_us, possible_us);
    any |= drain_events(drain, process, number, &view, possible_us);
    if (view.state != FEED_THREAD_ENDED || any)
        return;
    /* The state was read before the ring: an ended thread has written all it ever will. What is
     * left may still be later than until_us, and must not become the slot's next thread's. */
    if ((record = feed_reader_next(process->reader, number, INT64_MAX))) {
        take_own(drain, process, slot, &view, record, possible_us);
        return;
    }
    process_slot_release(process, slot, end_us);
    if (process->events)
        sampling_events_thread(process, &view, true, end_us);
    feed_reader_recycle(process->reader, number);
}

/* Keeps where the thread sleeps: what comes next may say no more than that it still does. Out of
 * memory, that is nowhere. */
static void note_asleep(struct drain *drain, struct process *process, struct process_slot *slot,
                        const struct feed_sample *record)
{
    uint64_t *frames = realloc(slot->asleep, (record->depth + 1u) * sizeof(*frames));

    slot->asleep_depth = 0;
    if (!frames)
        return;
    slot->asleep = frames;
    slot->asleep_end = record->end;
    slot->asleep_tag = record->tag;
    slot->asleep_depth = normalize(drain, process, record, frames);
}

/* The slot of a sleeper, and its thread in the store of a kind. NULL: another generation, for the
 * thread has ended, and its last moments are told too late; or no memory. */
static struct process_slot *slot_asleep(struct drain *drain, struct process *process,
                                        uint32_t number, uint16_t generation, enum sample_kind kind,
                                        struct owner_thread **thread)
{
    struct process_slot *slot = process_slot(process, number);
    struct feed_thread_view view;

    if (!slot || !feed_reader_thread(process->reader, number, &view) ||
        (uint16_t)view.generation != generation)
        return NULL;
    if (slot->generation != view.generation)
        slot->asleep_depth = 0;
    meet_thread(drain, process, slot, &view);
    *thread = thread_of(process, slot, &view, kind);
    return *thread ? slot : NULL;
}

/* It sleeps where it slept, for so many rounds. They share its frames. */
static void take_again(struct drain *drain, struct process *process, struct process_slot *slot,
                       struct owner_thread *thread, int64_t first_us, uint8_t state,
                       uint32_t rounds, uint32_t period_us)
{
    struct store_sample sample = {
        .kind = asleep_kind,
        .thread = thread,
        .timestamp_us = first_us,
        .end = slot->asleep_end,
        .state = state,
        .tag = process_name(process, slot->asleep_tag, registry_names(drain->registry)),
        .depth = slot->asleep_depth,
    };

    if (!sample.depth) {
        count_unstored_by(process->owners.of[asleep_kind], rounds);
        return;
    }
    for (uint32_t n = 0; n < rounds; n++, sample.timestamp_us += period_us)
        if (n && drain->sample_count) {
            keep(drain, &sample);
        } else { /* none, or they have gone with those that were stored */
            memcpy(drain->frames + drain->frame_count, slot->asleep,
                   sample.depth * sizeof(*slot->asleep));
            take(drain, &sample);
        }
}

/* A look that was no round: what comes next in ring 0 does not go on from it. */
static void take_look(struct drain *drain, struct process *process, enum sample_kind kind,
                      struct owner_thread *thread, const struct feed_sample *record)
{
    struct store_sample sample = {
        .kind = kind,
        .thread = thread,
        .timestamp_us = record->timestamp_us,
        .end = record->end,
        .state = state_in(record),
        .tag = process_name(process, record->tag, registry_names(drain->registry)),
    };

    take_stack(drain, process, record, &sample);
}

static void take_asleep(struct drain *drain, struct process *process,
                        const struct feed_sample *record)
{
    enum sample_kind kind = kinds[record->kind];
    struct owner_thread *thread;
    struct process_slot *slot =
        slot_asleep(drain, process, record->head.slot, record->generation, kind, &thread);

    if (!slot) {
        count_unstored(process->owners.of[kind]);
        return;
    }
    if (kind != asleep_kind) {
        take_look(drain, process, kind, thread, record);
        return;
    }
    note_asleep(drain, process, slot, record);
    take_again(drain, process, slot, thread, record->timestamp_us, state_in(record), 1, 0);
}

static void take_sleeper(struct drain *drain, struct process *process,
                         const struct feed_again *round, uint32_t sleeper)
{
    uint32_t number = FEED_SLEEPER_SLOT(sleeper);
    int64_t first_us = round->timestamp_us + FEED_SPREAD_US(number, round->period_us);
    struct owner_thread *thread;
    struct process_slot *slot =
        slot_asleep(drain, process, number, FEED_SLEEPER_GENERATION(sleeper), asleep_kind, &thread);

    if (slot)
        take_again(drain, process, slot, thread, first_us, FEED_SLEEPER_STATE(sleeper),
                   round->rounds, round->period_us);
    else
        count_unstored_by(process->owners.of[asleep_kind], round->rounds);
}

/* Of ring 0. Returns how many samples it stands for. */
static uint64_t take_of_others(struct drain *drain, struct process *process,
                               const union feed_any *record, int64_t possible_us)
{
    if (!is_possible(process, record, possible_us))
        return 1;
    switch (record->head.type) {
    case FEED_RECORD_SAMPLE_OF:
        take_asleep(drain, process, &record->sample);
        break;
    case FEED_RECORD_AGAIN:
        for (uint32_t i = 0; i < record->again.count; i++)
            take_sleeper(drain, process, &record->again, record->again.sleepers[i]);
        return 1 + (uint64_t)record->again.count * record->again.rounds;
    }
    return 1;
}

/* What the rounds of wall mode saw of threads that sleep. */
static void drain_sleepers(struct drain *drain, struct process *process, int64_t until_us,
                           int64_t possible_us)
{
    const union feed_any *record;
    uint64_t taken = 0;

    while (taken < SLEEPERS_MAX && (record = feed_reader_next(process->reader, 0, until_us)))
        taken += take_of_others(drain, process, record, possible_us);
}

static bool lives(const void *context, uint64_t mark)
{
    return feed_reader_allocation_lives(context, mark);
}

static uint32_t level_of(const void *context)
{
    return feed_reader_allocations_level(context);
}

/* What was sampled before it was freed has been seen by now. */
static void sweep_allocations(struct process *process, uint32_t freed)
{
    const struct live_table table = { lives, level_of, process->reader };
    uint32_t level;

    if (!process->live)
        return;
    if (freed != process->allocations_freed)
        live_set_sweep(process->live, &table);
    process->allocations_freed = freed;
    level = live_set_bound(process->live, feed_reader_allocations_bytes(process->reader));
    feed_reader_raise_level(process->reader, level);
}

void drain_process(struct drain *drain, struct process *process, int64_t until_us,
                   int64_t possible_us)
{
    uint32_t slots = feed_reader_slots(process->reader);
    uint32_t freed = feed_reader_allocations_freed(process->reader);

    process->round_us = possible_us;
    /* First, for a thread that is given back must have told all. */
    drain_sleepers(drain, process, until_us, possible_us);
    for (uint32_t slot = 1; slot < slots; slot++)
        drain_slot(drain, process, slot, until_us, possible_us);
    sweep_allocations(process, freed);
}

uint64_t drain_flush(struct drain *drain)
{
    uint64_t stored;

    store_taken(drain);
    stored = drain->stored;
    drain->stored = 0;
    return stored;
}

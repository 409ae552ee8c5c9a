#include "drain.h"

#include "../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* A full ring holds fewer; more in one round means that its writer makes them up. */
    SLOT_SAMPLES_MAX = FEED_RING_BYTES / sizeof(struct feed_again),
    /* What is taken before it is sorted and stored: 4 MB of frames. */
    TAKEN_FRAMES_MAX = 512 * 1024,
    TAKEN_SAMPLES_MAX = 64 * 1024,
};

struct taken_sample {
    struct owner_thread *thread; /* held */
    uint32_t frames_at;          /* place in frames */
    uint32_t number;             /* order of arrival */
    struct store_sample sample;  /* its frames pointer is set when it is stored */
};

struct drain {
    struct store *store;
    struct registry *registry;
    struct namer *namer;
    struct taken_sample *samples;
    uint64_t *frames;
    uint32_t sample_count, frame_count;
    uint64_t stored; /* since drain_flush */
};

int drain_new(struct drain **out, struct store *store, struct registry *registry,
              struct namer *namer)
{
    struct drain *drain = calloc(1, sizeof(*drain));

    if (!drain)
        return -ISOSCOPE_NO_MEMORY;
    /* Large enough once and for all; what no round needs is never touched. */
    drain->samples = calloc(TAKEN_SAMPLES_MAX, sizeof(*drain->samples));
    drain->frames = calloc(TAKEN_FRAMES_MAX, sizeof(*drain->frames));
    drain->store = store;
    drain->registry = registry;
    drain->namer = namer;
    if (!drain->samples || !drain->frames) {
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
    free(drain->frames);
    free(drain);
}

static void count_unstored(struct owner *owner)
{
    atomic_fetch_add_explicit(&owner->unstored, 1, memory_order_relaxed);
}

static int by_time(const void *left, const void *right)
{
    const struct taken_sample *a = left, *b = right;

    if (a->sample.timestamp_us != b->sample.timestamp_us)
        return a->sample.timestamp_us < b->sample.timestamp_us ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static void store_taken(struct drain *drain)
{
    qsort(drain->samples, drain->sample_count, sizeof(*drain->samples), by_time);
    for (uint32_t i = 0; i < drain->sample_count; i++) {
        struct taken_sample *taken = &drain->samples[i];

        taken->sample.frames = drain->frames + taken->frames_at;
        if (store_add(drain->store, taken->thread, &taken->sample) < 0)
            count_unstored(taken->thread->owner);
        else
            drain->stored++;
        owner_thread_release(taken->thread);
    }
    drain->sample_count = 0;
    drain->frame_count = 0;
}

/* Returns how many of the frames are the program's own. */
static uint32_t normalize(struct drain *drain, struct process *process,
                          const struct feed_sample_view *view, uint64_t *out)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < view->depth; i++)
        depth +=
            process_frame(process, view->frames[i], drain->registry, drain->namer, &out[depth]);
    return depth;
}

/* Of which view tells all but the frames: these lie at the end of those taken so far. */
static void take_frames(struct drain *drain, struct process *process, struct owner_thread *thread,
                        const struct feed_sample_view *view, uint32_t depth)
{
    drain->samples[drain->sample_count] = (struct taken_sample){
        .thread = owner_thread_hold(thread),
        .frames_at = drain->frame_count,
        .number = drain->sample_count,
        .sample = { .timestamp_us = view->timestamp_us,
                    .cpu_ns = view->cpu_ns,
                    .end = (uint8_t)view->end,
                    .state = view->state < 16 ? view->state : 15,
                    .tag = process_name(process, view->tag, registry_names(drain->registry)),
                    .depth = depth },
    };
    drain->sample_count++;
    drain->frame_count += depth;
    if (drain->sample_count == TAKEN_SAMPLES_MAX ||
        drain->frame_count + FEED_DEPTH_MAX > TAKEN_FRAMES_MAX)
        store_taken(drain);
}

static void take_once(struct drain *drain, struct process *process, struct owner_thread *thread,
                      const struct feed_sample_view *view)
{
    uint32_t depth = normalize(drain, process, view, drain->frames + drain->frame_count);

    if (depth) /* else: in the sampler from top to bottom, nothing of the program */
        take_frames(drain, process, thread, view, depth);
}

static void take(struct drain *drain, struct process *process, struct owner_thread *thread,
                 const struct feed_sample_view *view)
{
    struct feed_sample_view more = *view;
    uint64_t part_ns = view->cpu_ns / (1u + view->more_running + view->more_runnable);

    more.cpu_ns = view->cpu_ns - part_ns * (view->more_running + view->more_runnable);
    take_once(drain, process, thread, &more);
    more.cpu_ns = part_ns;
    more.state = FEED_STATE_RUNNING;
    for (uint32_t i = 0; i < view->more_running; i++)
        take_once(drain, process, thread, &more);
    more.state = FEED_STATE_RUNNABLE;
    for (uint32_t i = 0; i < view->more_runnable; i++)
        take_once(drain, process, thread, &more);
}

/* The slot's thread as the store knows it; NULL: out of memory. */
static struct owner_thread *thread_of(struct drain *drain, struct process *process,
                                      struct process_slot *slot,
                                      const struct feed_thread_view *view)
{
    if (slot->thread && slot->generation != view->generation) {
        owner_thread_release(slot->thread);
        slot->thread = NULL;
    }
    if (!slot->thread)
        owner_thread_new(&slot->thread, process->owner, view->tid, view->name);
    else if (strcmp(slot->thread->name, view->name) != 0)
        store_rename(drain->store, slot->thread, view->name);
    slot->generation = view->generation;
    return slot->thread;
}

static void take_if_possible(struct drain *drain, struct process *process,
                             struct owner_thread *thread, const struct feed_sample_view *view,
                             int64_t possible_us)
{
    if (view->timestamp_us < 0 || view->timestamp_us > possible_us)
        process->impossible++;
    else
        take(drain, process, thread, view);
}

static void drain_slot(struct drain *drain, struct process *process, uint32_t number,
                       int64_t until_us, int64_t possible_us)
{
    struct process_slot *slot = process_slot(process, number);
    struct feed_thread_view view;
    struct feed_sample_view sample;
    struct owner_thread *thread;
    uint32_t taken = 0;

    if (!slot || !feed_reader_thread(process->reader, number, &view) ||
        !(thread = thread_of(drain, process, slot, &view)))
        return;
    while (taken < SLOT_SAMPLES_MAX &&
           feed_reader_next(process->reader, number, until_us, &sample)) {
        taken++;
        take_if_possible(drain, process, thread, &sample, possible_us);
    }
    if (view.state != FEED_THREAD_ENDED || taken)
        return;
    /* The state was read before the ring: an ended thread has written all it ever will. What is
     * left may still be later than until_us, and must not become the slot's next thread's. */
    if (feed_reader_next(process->reader, number, INT64_MAX, &sample)) {
        take_if_possible(drain, process, thread, &sample, possible_us);
        return;
    }
    owner_thread_release(slot->thread);
    slot->thread = NULL;
    feed_reader_recycle(process->reader, number);
}

/* Keeps where the thread sleeps: what comes next may say no more than that it still does. Out of
 * memory, that is nowhere. */
static void note_asleep(struct drain *drain, struct process *process, struct process_slot *slot,
                        const struct feed_sample_view *view)
{
    uint64_t *frames = realloc(slot->asleep, (view->depth + 1u) * sizeof(*frames));

    slot->asleep_depth = 0;
    if (!frames)
        return;
    slot->asleep = frames;
    slot->asleep_end = (uint8_t)view->end;
    slot->asleep_tag = view->tag;
    for (uint32_t i = 0; i < view->depth; i++)
        slot->asleep_depth += process_frame(process, view->frames[i], drain->registry, drain->namer,
                                            &frames[slot->asleep_depth]);
}

/* again: it sleeps where it slept, and view has no stack. */
static void take_asleep(struct drain *drain, struct process *process, struct feed_sample_view *view,
                        bool again)
{
    struct process_slot *slot = process_slot(process, view->slot);
    struct feed_thread_view thread_view;
    struct owner_thread *thread;

    /* Another generation: the thread has ended, and its last moments are told too late. */
    if (!slot || !feed_reader_thread(process->reader, view->slot, &thread_view) ||
        (uint16_t)thread_view.generation != view->generation) {
        count_unstored(process->owner);
        return;
    }
    if (slot->thread && slot->generation != thread_view.generation)
        slot->asleep_depth = 0;
    if (!again)
        note_asleep(drain, process, slot, view);
    thread = thread_of(drain, process, slot, &thread_view);
    if (!thread || !slot->asleep_depth) {
        count_unstored(process->owner);
        return;
    }
    memcpy(drain->frames + drain->frame_count, slot->asleep,
           slot->asleep_depth * sizeof(*slot->asleep));
    view->end = (enum feed_end)slot->asleep_end;
    view->tag = slot->asleep_tag;
    take_frames(drain, process, thread, view, slot->asleep_depth);
}

static void take_sleepers(struct drain *drain, struct process *process,
                          const struct feed_sample_view *round)
{
    for (uint32_t i = 0; i < round->sleeper_count; i++) {
        uint32_t sleeper = round->sleepers[i];
        struct feed_sample_view one = { .timestamp_us = round->timestamp_us,
                                        .state = FEED_SLEEPER_STATE(sleeper),
                                        .slot = (uint16_t)FEED_SLEEPER_SLOT(sleeper),
                                        .generation = FEED_SLEEPER_GENERATION(sleeper) };

        take_asleep(drain, process, &one, true);
    }
}

/* What the sampler's thread saw of threads that sleep. */
static void drain_sleepers(struct drain *drain, struct process *process, int64_t until_us,
                           int64_t possible_us)
{
    struct feed_sample_view sample;
    uint32_t taken = 0;

    while (taken++ < SLOT_SAMPLES_MAX && feed_reader_next(process->reader, 0, until_us, &sample)) {
        if (sample.timestamp_us < 0 || sample.timestamp_us > possible_us)
            process->impossible++;
        else if (sample.sleeper_count)
            take_sleepers(drain, process, &sample);
        else
            take_asleep(drain, process, &sample, false);
    }
}

void drain_process(struct drain *drain, struct process *process, int64_t until_us,
                   int64_t possible_us)
{
    uint32_t slots = feed_reader_slots(process->reader);

    process->round_us = possible_us;
    /* First, for a thread that is given back must have told all. */
    drain_sleepers(drain, process, until_us, possible_us);
    for (uint32_t slot = 1; slot < slots; slot++)
        drain_slot(drain, process, slot, until_us, possible_us);
}

uint64_t drain_flush(struct drain *drain)
{
    uint64_t stored;

    store_taken(drain);
    stored = drain->stored;
    drain->stored = 0;
    return stored;
}

/* live.h over the scripted profile: one tree; each sample of the script has its own branch of it.
 */
#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/live.h"

#include <stdlib.h>

enum { ENTRIES_MAX = FAKE_MAX * FAKE_DEPTH_MAX };

struct chain {
    const struct snapshot_frame *places;
    uint32_t length;
};

struct leaf {
    uint32_t caller, frame;
};

struct live {
    struct profile *profile;
    uint64_t process_id;
    int32_t tid;
    struct live_mark from, mark;
    struct chain chains[ENTRIES_MAX];
    struct live_node nodes[ENTRIES_MAX]; /* from 1 on */
    struct leaf leaves[FAKE_MAX];        /* by sample */
    uint32_t chain_count, node_count, shown;
    bool reset, more;
};

static bool is_shown(const struct live *live, uint32_t sample)
{
    const struct fake_sample *shown = &live->profile->samples[sample];

    return (!live->process_id || shown->process_id == live->process_id) &&
           (!live->tid || fake_tid(live->profile, shown) == live->tid);
}

/* Returns the number of its first chain: the leaf's. */
static uint32_t add_chains(struct live *live, const struct fake_sample *sample)
{
    uint32_t first = live->chain_count;

    for (uint32_t i = 0; i < sample->depth;) {
        struct chain *chain = &live->chains[live->chain_count++];

        chain->places = &sample->frames[i];
        while (sample->frames[i + chain->length].inlined)
            chain->length++;
        chain->length++;
        i += chain->length;
    }
    return first;
}

static void add_sample(struct live *live, uint32_t number)
{
    uint32_t leaf = add_chains(live, &live->profile->samples[number]), caller = 0;

    for (uint32_t chain = live->chain_count; --chain > leaf;) {
        live->nodes[live->node_count] = (struct live_node){ caller, chain };
        caller = live->node_count++;
    }
    live->leaves[number] = (struct leaf){ caller, leaf };
}

static void take_samples(struct live *live, uint64_t count_max)
{
    uint32_t number = live->from.samples;

    for (; number < live->profile->sample_count && !live->more; number++) {
        live->more = is_shown(live, number) && count_max && live->shown == count_max;
        live->shown += is_shown(live, number) && !live->more;
    }
    live->mark.samples = number - live->more;
}

static struct live_mark mark_of(const struct live *live)
{
    return (struct live_mark){ .generation = 1,
                               .clears = live->profile->clears,
                               .libraries = live->profile->library_count,
                               .functions = live->profile->function_count,
                               .frames = live->chain_count,
                               .renamed = !live->profile->pending,
                               .tree = 1,
                               .nodes = live->node_count,
                               .threads = live->profile->sample_count };
}

int live_step(struct live *live, int64_t *work)
{
    (void)live;
    (void)work;
    return 0;
}

int live_begin(struct live **out, struct profile *profile, const struct live_window *window)
{
    struct live *live;

    if (profile->pending && !window->available)
        return -ISOSCOPE_PENDING;
    live = calloc(1, sizeof(*live));
    if (!live)
        return -ISOSCOPE_NO_MEMORY;
    live->profile = profile;
    live->process_id = window->process_id;
    live->tid = window->tid;
    live->node_count = 1;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        add_sample(live, i);
    live->mark = mark_of(live);
    live->from = window->mark;
    live->reset = window->mark.generation && window->mark.clears != profile->clears;
    if (live->reset)
        live->from = (struct live_mark){ 0 };
    while (!window->mark.generation && live->from.samples < profile->sample_count &&
           profile->samples[live->from.samples].timestamp_us < window->from_us)
        live->from.samples++;
    take_samples(live, window->count_max);
    profile->snapshots++;
    *out = live;
    return 0;
}

void live_free(struct live *live)
{
    if (live)
        live->profile->snapshots--;
    free(live);
}

bool live_reset(const struct live *live)
{
    return live->reset;
}

bool live_more(const struct live *live)
{
    return live->more;
}

struct live_mark live_mark(const struct live *live)
{
    return live->mark;
}

uint32_t live_sample_count(const struct live *live)
{
    return live->shown;
}

void live_libraries(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.libraries;
    *end = live->mark.libraries;
}

void live_functions(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.functions;
    *end = live->mark.functions;
}

void live_frames(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.frames;
    *end = live->mark.frames;
}

/* While names were pending, the first frame had not got its own. */
void live_renamed(const struct live *live, uint32_t *first, uint32_t *end)
{
    *first = live->from.renamed;
    *end = live->mark.renamed;
}

bool live_renamed_frame(const struct live *live, uint32_t entry, uint32_t *frame)
{
    *frame = entry;
    return entry < live->from.frames;
}

const struct snapshot_library *live_library(const struct live *live, uint32_t number)
{
    return &live->profile->libraries[number];
}

const struct snapshot_function *live_function(const struct live *live, uint32_t number)
{
    return &live->profile->functions[number];
}

const struct snapshot_frame *live_frame(const struct live *live, uint32_t number, uint32_t *length)
{
    *length = live->chains[number].length;
    return live->chains[number].places;
}

uint32_t live_part_count(const struct live *live)
{
    return live->profile->sample_count ? 1 : 0;
}

struct live_part live_part(const struct live *live, uint32_t part)
{
    (void)part;
    return (struct live_part){ .tree = 1,
                               .first_node = live->from.nodes ? live->from.nodes : 1,
                               .end_node = live->mark.nodes,
                               .first_thread = live->from.threads,
                               .end_thread = live->mark.threads,
                               .first_sample = live->from.samples,
                               .end_sample = live->mark.samples };
}

struct live_node live_node(const struct live *live, uint32_t part, uint32_t node)
{
    (void)part;
    return live->nodes[node];
}

/* Each sample of the script is a thread's. */
struct live_thread live_thread(const struct live *live, uint32_t part, uint32_t thread)
{
    const struct fake_sample *sample = &live->profile->samples[thread];

    (void)part;
    return (struct live_thread){ sample->process_id, fake_tid(live->profile, sample),
                                 sample->thread_name, NULL };
}

bool live_sample(const struct live *live, uint32_t part, uint32_t number, struct live_sample *out)
{
    const struct fake_sample *sample = &live->profile->samples[number];

    (void)part;
    if (!is_shown(live, number))
        return false;
    *out = (struct live_sample){ .timestamp_us = sample->timestamp_us,
                                 .cpu_ns = 1000000,
                                 .thread = number,
                                 .caller = live->leaves[number].caller,
                                 .frame = live->leaves[number].frame,
                                 .end = sample->end,
                                 .state = sample->state };
    return true;
}

void profile_follow(struct profile *profile, bool follows)
{
    profile->follows = follows;
}

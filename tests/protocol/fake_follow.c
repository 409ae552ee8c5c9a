/* follow.h over the scripted profile: one tree; each sample of the script has its own branch of it.
 */
#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/follow.h"

#include <stdlib.h>

enum { ENTRIES_MAX = FAKE_MAX * FAKE_DEPTH_MAX };

struct chain {
    const struct snapshot_frame *places;
    uint32_t length;
};

struct leaf {
    uint32_t caller, frame;
};

struct follow {
    struct profile *profile;
    uint64_t process_id;
    int32_t tid;
    struct follow_cursor from, next;
    struct chain chains[ENTRIES_MAX];
    struct follow_node nodes[ENTRIES_MAX]; /* from 1 on */
    struct leaf leaves[FAKE_MAX];          /* by sample */
    uint32_t chain_count, node_count, shown;
    bool reset, more;
};

static bool is_shown(const struct follow *follow, uint32_t sample)
{
    const struct fake_sample *shown = &follow->profile->samples[sample];

    return (!follow->process_id || shown->process_id == follow->process_id) &&
           (!follow->tid || fake_tid(follow->profile, shown) == follow->tid);
}

/* Returns the number of its first chain: the leaf's. */
static uint32_t add_chains(struct follow *follow, const struct fake_sample *sample)
{
    uint32_t first = follow->chain_count;

    for (uint32_t i = 0; i < sample->depth;) {
        struct chain *chain = &follow->chains[follow->chain_count++];

        chain->places = &sample->frames[i];
        while (sample->frames[i + chain->length].inlined)
            chain->length++;
        chain->length++;
        i += chain->length;
    }
    return first;
}

static void add_sample(struct follow *follow, uint32_t number)
{
    uint32_t leaf = add_chains(follow, &follow->profile->samples[number]), caller = 0;

    for (uint32_t chain = follow->chain_count; --chain > leaf;) {
        follow->nodes[follow->node_count] = (struct follow_node){ caller, chain };
        caller = follow->node_count++;
    }
    follow->leaves[number] = (struct leaf){ caller, leaf };
}

static void take_samples(struct follow *follow, uint64_t count_max)
{
    uint32_t number = follow->from.samples;

    for (; number < follow->profile->sample_count && !follow->more; number++) {
        follow->more = is_shown(follow, number) && count_max && follow->shown == count_max;
        follow->shown += is_shown(follow, number) && !follow->more;
    }
    follow->next.samples = number - follow->more;
}

static struct follow_cursor end_of(const struct follow *follow)
{
    return (struct follow_cursor){ .generation = 1,
                                   .clears = follow->profile->clears,
                                   .libraries = follow->profile->library_count,
                                   .functions = follow->profile->function_count,
                                   .frames = follow->chain_count,
                                   .renamed = !follow->profile->pending,
                                   .tree = 1,
                                   .nodes = follow->node_count,
                                   .threads = follow->profile->sample_count };
}

int follow_step(struct follow *follow, int64_t *work)
{
    (void)follow;
    (void)work;
    return 0;
}

int follow_begin(struct follow **out, struct profile *profile, const struct follow_window *window)
{
    struct follow *follow;

    if (profile->pending && !window->partial_names_ok)
        return -ISOSCOPE_PENDING;
    follow = calloc(1, sizeof(*follow));
    if (!follow)
        return -ISOSCOPE_NO_MEMORY;
    follow->profile = profile;
    follow->process_id = window->process_id;
    follow->tid = window->tid;
    follow->node_count = 1;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        add_sample(follow, i);
    follow->next = end_of(follow);
    follow->from = window->cursor;
    follow->reset = window->cursor.generation && window->cursor.clears != profile->clears;
    if (follow->reset)
        follow->from = (struct follow_cursor){ 0 };
    while (!window->cursor.generation && follow->from.samples < profile->sample_count &&
           profile->samples[follow->from.samples].timestamp_us < window->from_us)
        follow->from.samples++;
    take_samples(follow, window->count_max);
    profile->snapshots++;
    *out = follow;
    return 0;
}

void follow_free(struct follow *follow)
{
    if (follow)
        follow->profile->snapshots--;
    free(follow);
}

bool follow_reset(const struct follow *follow)
{
    return follow->reset;
}

bool follow_more(const struct follow *follow)
{
    return follow->more;
}

struct follow_cursor follow_cursor(const struct follow *follow)
{
    return follow->next;
}

uint32_t follow_sample_count(const struct follow *follow)
{
    return follow->shown;
}

void follow_libraries(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.libraries;
    *end = follow->next.libraries;
}

void follow_functions(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.functions;
    *end = follow->next.functions;
}

void follow_frames(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.frames;
    *end = follow->next.frames;
}

/* While names were pending, the first frame had not got its own. */
void follow_renamed(const struct follow *follow, uint32_t *first, uint32_t *end)
{
    *first = follow->from.renamed;
    *end = follow->next.renamed;
}

bool follow_renamed_frame(const struct follow *follow, uint32_t entry, uint32_t *frame)
{
    *frame = entry;
    return entry < follow->from.frames;
}

const struct snapshot_library *follow_library(const struct follow *follow, uint32_t number)
{
    return &follow->profile->libraries[number];
}

const struct snapshot_function *follow_function(const struct follow *follow, uint32_t number)
{
    return &follow->profile->functions[number];
}

const struct snapshot_frame *follow_frame(const struct follow *follow, uint32_t number,
                                          uint32_t *length)
{
    *length = follow->chains[number].length;
    return follow->chains[number].places;
}

uint32_t chunk_delta_count(const struct follow *follow)
{
    return follow->profile->sample_count ? 1 : 0;
}

struct chunk_delta chunk_delta(const struct follow *follow, uint32_t part)
{
    (void)part;
    return (struct chunk_delta){ .tree = 1,
                                 .first_node = follow->from.nodes ? follow->from.nodes : 1,
                                 .end_node = follow->next.nodes,
                                 .first_thread = follow->from.threads,
                                 .end_thread = follow->next.threads,
                                 .first_sample = follow->from.samples,
                                 .end_sample = follow->next.samples };
}

struct follow_node follow_node(const struct follow *follow, uint32_t part, uint32_t node)
{
    (void)part;
    return follow->nodes[node];
}

/* Each sample of the script is a thread's. */
struct follow_thread follow_thread(const struct follow *follow, uint32_t part, uint32_t thread)
{
    const struct fake_sample *sample = &follow->profile->samples[thread];

    (void)part;
    return (struct follow_thread){ sample->process_id, fake_tid(follow->profile, sample),
                                   sample->thread_name, NULL };
}

bool follow_sample(const struct follow *follow, uint32_t part, uint32_t number,
                   struct follow_sample *out)
{
    const struct fake_sample *sample = &follow->profile->samples[number];

    (void)part;
    if (!is_shown(follow, number))
        return false;
    *out = (struct follow_sample){ .timestamp_us = sample->timestamp_us,
                                   .weight = 1000000,
                                   .thread = number,
                                   .caller = follow->leaves[number].caller,
                                   .frame = follow->leaves[number].frame,
                                   .end = sample->end,
                                   .state = sample->state };
    return true;
}

void profile_follow(struct profile *profile, bool follows)
{
    profile->follows = follows;
}

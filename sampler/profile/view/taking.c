#include "taking.h"

#include "../../include/isoscope/isoscope.h"
#include "../parts.h"

#include <stdlib.h>
#include <string.h>

/* Work: of a sample beside others, of a frame that is new to a view, or to all, of a node. */
enum {
    WORK_SAMPLE = 1,
    WORK_STACK = 6,
    WORK_FRAME = 16,
    WORK_NEW_FRAME = 300,
    WORK_NODE = 2,
    WORK_COUNTED = 4
};

/* From the first view on. */
static void begin_phase(struct taking *taking, enum phase phase)
{
    taking->phase = phase;
    taking->view = 0;
    taking->in_view = false;
}

/* Moves on to a view that has samples. False: there is none. */
static bool find_view(const struct snapshot *snapshot, struct taking *taking)
{
    while (taking->view < snapshot->view_count && !taking->in_view &&
           !window_reaches(&snapshot->window, taking->view))
        taking->view++;
    return taking->view < snapshot->view_count;
}

static void begin_view(const struct snapshot *snapshot, struct taking *taking)
{
    taking->in_view = true;
    taking->sample = snapshot->window.reach[taking->view].first;
}

static void end_view(struct taking *taking)
{
    taking->in_view = false;
    taking->view++;
}

/* The next sample of the view that the window shows. False: there is none, or no work left. */
static bool next_sample(const struct snapshot *snapshot, struct taking *taking, int64_t *work,
                        struct pick *pick)
{
    uint32_t end = snapshot->window.reach[taking->view].end;

    while (*work > 0 && taking->sample < end) {
        *pick = (struct pick){ (uint16_t)taking->view, (uint16_t)taking->sample++ };
        work_off(work, WORK_SAMPLE);
        if (window_shows(&snapshot->window, *pick))
            return true;
    }
    return false;
}

static bool view_is_done(const struct snapshot *snapshot, const struct taking *taking)
{
    return taking->sample == snapshot->window.reach[taking->view].end;
}

static int find_first(struct snapshot *snapshot, int64_t *work)
{
    if (window_gather(&snapshot->window, work))
        return 1;
    if (snapshot->window.total)
        snapshot->first_us = snapshot->is_counted
                                 ? counted_first_us(&snapshot->counted, &snapshot->window)
                                 : pick_us(snapshot->views, snapshot->window.picks[0]);
    snapshot->last_us = snapshot->first_us;
    snapshot->told = snapshot->is_counted ? 0 : snapshot->window.total;
    return 0;
}

/* Names. */

static int name_frame(struct snapshot *snapshot, uint32_t view, uint16_t frame, int64_t *work)
{
    struct table_chain *chain = &snapshot->chains[view][frame];
    uint32_t known = snapshot->tables.chain_count, number;

    if (chain->count)
        return 0;
    if (tables_add(&snapshot->tables, snapshot->views[view].chunk->frames[frame], &number) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *chain = snapshot->tables.chains[number];
    work_off(work, number < known ? WORK_FRAME : WORK_NEW_FRAME);
    return 0;
}

/* Where a node is named already, so is all that leads to it. */
static int name_stack(struct snapshot *snapshot, struct pick pick, int64_t *work)
{
    const struct chunk *chunk = snapshot->views[pick.view].chunk;
    const struct chunk_sample *sample = &chunk->samples[pick.sample];
    uint64_t *named = snapshot->taking->named;
    int error = name_frame(snapshot, pick.view, sample->leaf, work);

    for (uint32_t node = sample->caller;
         node && !(named[node / 64] & UINT64_C(1) << node % 64) && !error;
         node = chunk->nodes[node].parent) {
        named[node / 64] |= UINT64_C(1) << node % 64;
        work_off(work, WORK_NODE);
        error = name_frame(snapshot, pick.view, chunk->nodes[node].frame, work);
    }
    return error;
}

static int begin_names(struct snapshot *snapshot, struct taking *taking)
{
    struct table_chain **chains = &snapshot->chains[taking->view];

    free(*chains); /* of an earlier round */
    *chains = calloc(snapshot->views[taking->view].frame_count, sizeof(**chains));
    memset(taking->named, 0, sizeof(taking->named));
    begin_view(snapshot, taking);
    return *chains ? 0 : -ISOSCOPE_NO_MEMORY;
}

static int name_view(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    struct pick pick;

    while (next_sample(snapshot, taking, work, &pick)) {
        int64_t time_us = pick_us(snapshot->views, pick);

        if (time_us > snapshot->last_us)
            snapshot->last_us = time_us;
        if (name_stack(snapshot, pick, work) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return !view_is_done(snapshot, taking);
}

static int name_stacks(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    int error;

    while (find_view(snapshot, taking)) {
        if (!taking->in_view && begin_names(snapshot, taking) < 0)
            return -ISOSCOPE_NO_MEMORY;
        if ((error = name_view(snapshot, taking, work)))
            return error;
        end_view(taking);
    }
    return 0;
}

/* -ISOSCOPE_PENDING only after all are gone through, so that all names are asked for at once. */
static int ask_for_names(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    struct tables *tables = &snapshot->tables;
    int error = tables_ask(tables, work);

    if (error)
        return error;
    if (tables->resolved) {
        tables_free(tables);
        begin_phase(taking, PHASE_NAMES);
        return 0;
    }
    if (tables->pending && !tables->partial_names_ok)
        return -ISOSCOPE_PENDING;
    inline_chains_settle(tables->profile->chains);
    tables_settle(tables);
    work_end(work); /* much was given back */
    taking->seen = calloc((size_t)tables->function_count + 1, sizeof(*taking->seen));
    begin_phase(taking, PHASE_TICKS);
    return taking->seen ? 0 : -ISOSCOPE_NO_MEMORY;
}

/* Ticks. */

/* A recursive function counts once. number: the stack's. By value, or each is read again for each
 * frame: what is written might be them. */
static void count_in_chain(const struct snapshot_frame *frame, uint32_t count, uint64_t samples,
                           struct snapshot_function *functions, uint32_t *seen, uint32_t number)
{
    for (const struct snapshot_frame *end = frame + count; frame < end; frame++) {
        if (seen[frame->function] == number)
            continue;
        seen[frame->function] = number;
        functions[frame->function].inclusive += samples;
    }
}

static void count_in_stack(struct snapshot *snapshot, const struct stack *stack,
                           struct taking *taking, int64_t *work)
{
    const struct table_chain *chains = snapshot->chains[taking->view];
    struct tables *tables = &snapshot->tables;
    const struct snapshot_frame *leaf = &tables->frames[chains[stack->leaf].first];
    struct walk walk = walk_begin(snapshot->views[taking->view].chunk, stack->leaf, stack->caller);
    uint64_t samples = stack->samples;
    uint32_t *seen = taking->seen, number = ++taking->stack, depth = 0;

    tables->functions[leaf->function].exclusive += samples;
    for (; !walk.ended; walk_on(&walk)) {
        struct table_chain chain = chains[walk.frame];

        count_in_chain(tables->frames + chain.first, chain.count, samples, tables->functions, seen,
                       number);
        depth += chain.count;
    }
    if (depth > taking->deepest)
        taking->deepest = depth;
    work_off(work, depth * WORK_COUNTED);
}

/* How often it is told. */
static uint32_t count_sample(struct snapshot *snapshot, struct pick pick)
{
    struct counted *counted = &snapshot->counted;
    int64_t time_us = pick_us(snapshot->views, pick);
    uint32_t times = snapshot->is_counted ? counted_times(counted, pick) : 1;

    if (!snapshot->is_counted || !times)
        return times;
    snapshot->told += times;
    time_us = counted_us(counted, time_us, 0, times);
    if (time_us < snapshot->first_us)
        snapshot->first_us = time_us;
    return times;
}

static int begin_ticks(struct snapshot *snapshot, struct taking *taking)
{
    taking->slot = 0;
    begin_view(snapshot, taking);
    if (snapshot->is_counted && counted_view(&snapshot->counted, taking->view) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return stacks_begin(&taking->stacks, snapshot->window.reach[taking->view].count);
}

/* The view's samples to stacks, and those to functions. 1: call again. */
static int count_view(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    struct stacks *stacks = &taking->stacks;
    struct pick pick;

    while (next_sample(snapshot, taking, work, &pick)) {
        const struct chunk_sample *sample = &snapshot->views[pick.view].chunk->samples[pick.sample];

        uint32_t times = count_sample(snapshot, pick);

        if (times)
            stacks_add(stacks, sample->caller, sample->leaf, times);
        work_off(work, WORK_STACK);
    }
    if (!view_is_done(snapshot, taking))
        return 1;
    for (; *work > 0 && taking->slot < stacks->slot_count; taking->slot++) {
        work_off(work, WORK_SAMPLE);
        if (stacks->slots[taking->slot].samples)
            count_in_stack(snapshot, &stacks->slots[taking->slot], taking, work);
    }
    return taking->slot < stacks->slot_count;
}

static int count_ticks(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    while (find_view(snapshot, taking)) {
        if (!taking->in_view && begin_ticks(snapshot, taking) < 0)
            return -ISOSCOPE_NO_MEMORY;
        if (count_view(snapshot, taking, work))
            return 1;
        end_view(taking);
    }
    if (snapshot->is_counted)
        counted_rewind(&snapshot->counted);
    snapshot->stack = calloc((size_t)taking->deepest + STACK_BLOCK, sizeof(*snapshot->stack));
    return snapshot->stack ? 0 : -ISOSCOPE_NO_MEMORY;
}

void taking_free(struct taking *taking)
{
    if (!taking)
        return;
    stacks_free(&taking->stacks);
    free(taking->seen);
    free(taking);
}

/* Does all of a phase, and begins the next one. 1: call again. */
static int do_phase(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    int error;

    switch (taking->phase) {
    case PHASE_COUNT:
        if (!(error = window_count(&snapshot->window, work)))
            begin_phase(taking, PHASE_FIRST);
        return error;
    case PHASE_FIRST: /* the first batch is what is asked for next */
        if (!(error = find_first(snapshot, work)))
            begin_phase(taking, PHASE_NAMES);
        return error;
    case PHASE_NAMES:
        if (!(error = name_stacks(snapshot, taking, work)))
            begin_phase(taking, PHASE_ASK);
        return error;
    case PHASE_ASK:
        return ask_for_names(snapshot, taking, work);
    default:
        if (!(error = count_ticks(snapshot, taking, work)))
            begin_phase(taking, PHASE_DONE);
        return error;
    }
}

int taking_step(struct snapshot *snapshot, struct taking *taking, int64_t *work)
{
    while (taking->phase != PHASE_DONE) {
        int error = do_phase(snapshot, taking, work);

        if (error)
            return error;
    }
    return 0;
}

#include "sampler/profile/store/store.h"

#include "sampler/feed/cleanup.h"
#include "sampler/feed/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct store *store;
    struct owner *owner;
    struct owner_thread *thread;
};

static void fixture_open(struct fixture *fixture, size_t bytes_max)
{
    assert_int_equal(store_new(&fixture->store, bytes_max, SAMPLES_OF_TIME), 0);
    assert_int_equal(owner_new(&fixture->owner, 1), 0);
    assert_int_equal(owner_thread_new(&fixture->thread, fixture->owner, 10, "main"), 0);
}

static void fixture_close(struct fixture *fixture)
{
    owner_thread_release(fixture->thread);
    owner_release(fixture->owner);
    store_free(fixture->store);
}

static void add(struct store *store, struct owner_thread *thread, int64_t time_us, uint32_t depth,
                const uint64_t *frames)
{
    struct store_sample sample = { .thread = thread,
                                   .timestamp_us = time_us,
                                   .weight = 1000000,
                                   .depth = depth,
                                   .frames = frames };

    assert_int_equal(store_add(store, &sample), 0);
}

static void add_many(struct store *store, struct owner_thread *thread, uint32_t count)
{
    uint64_t frames[2] = { 0, FRAME_KEY(1, 1) };

    for (uint32_t i = 0; i < count; i++) {
        frames[0] = FRAME_KEY(1, i % 1000);
        add(store, thread, 1000 + i, 2, frames);
    }
}

static uint64_t visible(struct store *store, uint64_t process_id)
{
    struct store_view *views;
    uint32_t count;
    uint64_t samples = 0;
    struct store_ask ask = STORE_ASK_ALL;

    ask.process_id = process_id;
    assert_int_equal(store_views(store, &ask, &views, &count, NULL), 0);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < views[i].sample_count; j++)
            samples += j >= views[i].sources[views[i].chunk->samples[j].source].first_visible;
    store_views_free(views, count);
    return samples;
}

static void a_stack_comes_back_as_it_was_stored(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    uint64_t frames[] = { FRAME_KEY(3, 0x30), FRAME_KEY(2, 0x20), FRAME_KEY(0, 0x10) };
    struct store_view *views;
    const struct chunk *chunk;
    const struct chunk_node *caller;
    uint32_t count;

    (void)state;
    fixture_open(&fixture, 0);
    add(fixture.store, fixture.thread, 5000, 3, frames);
    assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    assert_int_equal(count, 1);
    chunk = views->chunk;
    assert_int_equal(chunk_sample_us(chunk, 0), 5000);
    assert_int_equal(chunk_sample_weight(chunk, 0), 1000000);
    assert_true(chunk->frames[chunk->samples[0].leaf] == frames[0]);
    caller = &chunk->nodes[chunk->samples[0].caller];
    assert_true(chunk->frames[caller->frame] == frames[1]);
    caller = &chunk->nodes[caller->parent];
    assert_true(chunk->frames[caller->frame] == frames[2]);
    assert_int_equal(caller->parent, 0);
    assert_int_equal(views->sources[0].tid, 10);
    assert_string_equal(views->sources[0].name, "main");
    store_views_free(views, count);
}

/* Weights are kept in 100 ns: many small ones still add up. */
static void weights_add_up_to_a_thousandth(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    uint64_t frame = FRAME_KEY(1, 1), asked = 0, stored = 0;
    struct store_sample sample = { .depth = 1, .frames = &frame };
    struct store_view *views;
    uint32_t count;

    (void)state;
    fixture_open(&fixture, 0);
    for (uint32_t i = 0; i < 10000; i++) {
        sample.thread = fixture.thread;
        sample.weight = 50000 + i * 7919 % 1000;
        asked += sample.weight;
        assert_int_equal(store_add(fixture.store, &sample), 0);
    }
    assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    for (uint32_t i = 0; i < views->sample_count; i++)
        stored += chunk_sample_weight(views->chunk, i);
    assert_in_range(stored, asked - asked / 1000, asked + asked / 1000);
    store_views_free(views, count);
}

static void a_full_store_lets_the_oldest_go_and_counts_them(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct owner_counts counts;
    struct store_view *views;
    uint32_t count;

    (void)state;
    fixture_open(&fixture, STORE_BYTES_MIN);
    add_many(fixture.store, fixture.thread, 100000);
    counts = store_counts(fixture.store, fixture.owner);
    assert_true(store_bytes(fixture.store) <= STORE_BYTES_MIN);
    assert_true(counts.evicted > 0);
    assert_int_equal(counts.samples + counts.evicted, 100000);
    assert_int_equal(visible(fixture.store, 0), counts.samples);
    /* The bound is used: an eviction takes an eighth of it, not half. */
    assert_true(store_bytes(fixture.store) > STORE_BYTES_MIN * 3 / 4);
    assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    assert_int_equal(views[0].min_us, 1000 + (int64_t)counts.evicted);
    assert_int_equal(views[count - 1].max_us, 1000 + 99999);
    store_views_free(views, count);
}

/* However much another process does, one that has little keeps all of it. */
static void a_quiet_process_keeps_its_samples_beside_a_busy_one(void **state)
{
    enum { QUIET = 500, BUSY = 400000, STEP = BUSY / QUIET };
    struct fixture fixture;
    struct owner *quiet;
    struct owner_thread *thread;
    const uint64_t frames[3] = { FRAME_KEY(2, 7), FRAME_KEY(2, 8), FRAME_KEY(1, 1) };
    struct owner_counts counts, busy;
    uint64_t seen = 0;

    (void)state;
    fixture_open(&fixture, STORE_BYTES_MIN);
    assert_int_equal(owner_new(&quiet, 2), 0);
    assert_int_equal(owner_thread_new(&thread, quiet, 20, "quiet"), 0);
    for (uint32_t i = 0; i < QUIET; i++) {
        add(fixture.store, thread, 1000 + i, 3, frames);
        add_many(fixture.store, fixture.thread, STEP);
    }
    counts = store_counts(fixture.store, quiet);
    busy = store_counts(fixture.store, fixture.owner);
    assert_int_equal(counts.samples, QUIET);
    assert_int_equal(counts.evicted, 0);
    assert_int_equal(busy.samples + busy.evicted, BUSY);
    assert_true(busy.evicted > BUSY / 2);
    assert_true(busy.samples > 5000);
    assert_true(store_bytes(fixture.store) <= STORE_BYTES_MIN);
    assert_int_equal(visible(fixture.store, 2), QUIET);
    assert_int_equal(visible(fixture.store, 1), busy.samples);
    {
        struct store_view *views;
        uint32_t count;

        assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
        for (uint32_t v = 0; v < count; v++) {
            const struct chunk *chunk = views[v].chunk;

            for (uint32_t i = 0; i < views[v].sample_count; i++) {
                const struct chunk_sample *sample = &chunk->samples[i];

                if (views[v].sources[sample->source].process_id != 2)
                    continue;
                assert_true(chunk->frames[sample->leaf] == frames[0]);
                assert_true(chunk->frames[chunk->nodes[sample->caller].frame] == frames[1]);
                assert_int_equal(chunk_sample_us(chunk, i), 1000 + seen);
                seen++;
            }
        }
        store_views_free(views, count);
    }
    assert_int_equal(seen, QUIET);
    store_clear(fixture.store, quiet);
    assert_int_equal(visible(fixture.store, 2), 0);
    assert_int_equal(visible(fixture.store, 1), busy.samples);
    owner_thread_release(thread);
    owner_release(quiet);
    fixture_close(&fixture);
}

/* Of several busy ones each has its share, and what they had is counted. */
static void busy_processes_share_a_full_store(void **state)
{
    enum { OWNERS = 4, ROUNDS = 60, STEP = 2000 };
    struct fixture fixture;
    struct owner *owners[OWNERS];
    struct owner_thread *threads[OWNERS];
    uint64_t least = UINT64_MAX, most = 0;

    (void)state;
    fixture_open(&fixture, STORE_BYTES_MIN);
    for (int i = 0; i < OWNERS; i++) {
        assert_int_equal(owner_new(&owners[i], 10 + (uint64_t)i), 0);
        assert_int_equal(owner_thread_new(&threads[i], owners[i], i, ""), 0);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < OWNERS; i++)
            add_many(fixture.store, threads[i], (uint32_t)(STEP << i));
    for (int i = 0; i < OWNERS; i++) {
        struct owner_counts counts = store_counts(fixture.store, owners[i]);

        assert_int_equal(counts.samples + counts.evicted, (uint64_t)ROUNDS * (STEP << i));
        assert_int_equal(visible(fixture.store, 10 + (uint64_t)i), counts.samples);
        least = counts.samples < least ? counts.samples : least;
        most = counts.samples > most ? counts.samples : most;
    }
    assert_true(store_bytes(fixture.store) <= STORE_BYTES_MIN);
    assert_true(least > 0 && most > least);
    for (int i = 0; i < OWNERS; i++) {
        owner_thread_release(threads[i]);
        owner_release(owners[i]);
    }
    fixture_close(&fixture);
}

static void a_view_keeps_its_chunk_when_the_store_lets_it_go(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct store_view *views;
    uint32_t count;

    (void)state;
    fixture_open(&fixture, STORE_BYTES_MIN);
    add_many(fixture.store, fixture.thread, 10);
    assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    add_many(fixture.store, fixture.thread, 200000);
    assert_int_equal(views[0].sample_count, 10);
    assert_int_equal(chunk_sample_us(views[0].chunk, 9), 1009);
    assert_string_equal(views[0].sources[0].name, "main");
    store_views_free(views, count);
}

static void clearing_one_process_leaves_the_others_alone(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct owner *other_owner;
    struct owner_thread *other;
    uint64_t frame = FRAME_KEY(1, 1);

    (void)state;
    fixture_open(&fixture, 0);
    owner_new(&other_owner, 2);
    owner_thread_new(&other, other_owner, 20, "other");
    for (int i = 0; i < 10; i++) {
        add(fixture.store, fixture.thread, i, 1, &frame);
        add(fixture.store, other, i, 1, &frame);
    }
    store_clear(fixture.store, fixture.owner);
    add(fixture.store, fixture.thread, 10, 1, &frame);
    assert_int_equal(visible(fixture.store, 1), 1);
    assert_int_equal(visible(fixture.store, 2), 10);
    assert_int_equal(store_counts(fixture.store, fixture.owner).samples, 1);
    assert_int_equal(store_counts(fixture.store, other_owner).samples, 10);
    owner_thread_release(other);
    owner_release(other_owner);
}

static void clearing_the_only_process_gives_the_memory_back(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    size_t empty;

    (void)state;
    fixture_open(&fixture, 0);
    add_many(fixture.store, fixture.thread, 1);
    store_clear(fixture.store, fixture.owner);
    empty = store_bytes(fixture.store);
    add_many(fixture.store, fixture.thread, 200000);
    store_clear(fixture.store, fixture.owner);
    assert_int_equal(visible(fixture.store, 0), 0);
    assert_true(store_bytes(fixture.store) <= empty + 4096);
    add_many(fixture.store, fixture.thread, 5);
    assert_int_equal(visible(fixture.store, 1), 5);
}

/* Also of a number that the kernel gave twice; the process' other threads keep theirs. */
static void clearing_a_thread_forgets_its_samples_only(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct owner_thread *worker, *again;
    struct profile_thread threads[3];

    (void)state;
    fixture_open(&fixture, 0);
    owner_thread_new(&worker, fixture.owner, 11, "worker");
    owner_thread_new(&again, fixture.owner, 11, "again");
    add_many(fixture.store, fixture.thread, 3);
    add_many(fixture.store, worker, 4);
    add_many(fixture.store, again, 5);
    assert_int_equal(store_threads(fixture.store, fixture.owner, threads, 3), 2);
    assert_int_equal(threads[0].tid + threads[1].tid, 10 + 11);
    assert_int_equal(threads[0].samples + threads[1].samples, 3 + 4 + 5);
    /* Programs leave thousands: there are more, and it does not go on. */
    assert_int_equal(store_threads(fixture.store, fixture.owner, NULL, 0), 1);
    assert_int_equal(store_threads(fixture.store, fixture.owner, threads, 1), 2);
    assert_int_equal(threads[0].tid, 11);
    assert_int_equal(threads[0].samples, 4 + 5);
    store_clear_thread(fixture.store, fixture.owner, 11);
    assert_int_equal(store_threads(fixture.store, fixture.owner, threads, 3), 1);
    assert_string_equal(threads[0].name, "main");
    assert_int_equal(visible(fixture.store, 1), 3);
    add_many(fixture.store, again, 2);
    assert_int_equal(visible(fixture.store, 1), 5);
    assert_int_equal(store_counts(fixture.store, fixture.owner).samples, 5);
    owner_thread_release(worker);
    owner_thread_release(again);
}

/* What the bound lets go is let go of the threads' counts too. */
static void evicted_threads_are_listed_no_more(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct owner_thread *other;
    struct profile_thread threads[3];

    (void)state;
    fixture_open(&fixture, STORE_BYTES_MIN);
    owner_thread_new(&other, fixture.owner, 11, "short");
    add_many(fixture.store, other, 100);
    owner_thread_release(other);
    add_many(fixture.store, fixture.thread, 300000);
    assert_int_equal(store_threads(fixture.store, fixture.owner, threads, 3), 1);
    assert_int_equal(threads[0].tid, 10);
    assert_int_equal(threads[0].samples, store_counts(fixture.store, fixture.owner).samples);
}

/* Cleared samples were let go by the user, not by the bound. */
static void cleared_samples_are_not_counted_as_evicted(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct owner *other_owner;
    struct owner_thread *other;

    (void)state;
    fixture_open(&fixture, STORE_BYTES_MIN);
    owner_new(&other_owner, 2);
    owner_thread_new(&other, other_owner, 20, "other");
    add_many(fixture.store, other, 1);
    add_many(fixture.store, fixture.thread, 100);
    store_clear(fixture.store, fixture.owner);
    add_many(fixture.store, other, 100000);
    assert_int_equal(store_counts(fixture.store, fixture.owner).evicted, 0);
    assert_int_equal(store_counts(fixture.store, fixture.owner).samples, 0);
    owner_thread_release(other);
    owner_release(other_owner);
}

static void a_new_name_holds_for_what_is_already_stored(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct store_view *views;
    uint32_t count;

    (void)state;
    fixture_open(&fixture, 0);
    add_many(fixture.store, fixture.thread, 1);
    store_rename(fixture.store, fixture.thread, "a name that is too long");
    assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    assert_string_equal(views[0].sources[0].name, "a name that is ");
    store_views_free(views, count);
}

/* An hour and more between two samples: a chunk's 32-bit times do not reach. */
static void a_long_pause_begins_a_new_chunk(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    uint64_t frame = FRAME_KEY(1, 1);
    int64_t late_us = INT64_C(10) * 3600 * 1000000;
    struct store_view *views;
    uint32_t count;

    (void)state;
    fixture_open(&fixture, 0);
    add(fixture.store, fixture.thread, 100, 1, &frame);
    add(fixture.store, fixture.thread, late_us, 1, &frame);
    add(fixture.store, fixture.thread, late_us - 5, 1, &frame); /* read late from its ring */
    assert_int_equal(store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(chunk_sample_us(views[0].chunk, 0), 100);
    assert_int_equal(chunk_sample_us(views[1].chunk, 0), late_us);
    assert_int_equal(views[1].min_us, late_us - 5);
    store_views_free(views, count);
}

/* A trace of stacks of `depth`, of which one in `repeat` has `fresh` frames nobody had before. */
struct trace {
    uint32_t samples, depth, fresh, repeat, pcs;
};

static uint32_t next_random(uint32_t *seed)
{
    return chance_next(seed) >> 8;
}

static double bytes_per_sample(struct trace trace, uint32_t *nodes)
{
    CLEANUP(fixture_close) struct fixture fixture;
    uint32_t stacks = 0, seed = 1;
    uint64_t *known = calloc((size_t)trace.samples * trace.depth, sizeof(*known));
    struct store_view *views;
    uint32_t count;

    fixture_open(&fixture, 0);
    for (uint32_t i = 0; i < trace.samples; i++) {
        uint32_t from = stacks ? next_random(&seed) % stacks : 0;
        uint64_t *stack = &known[(size_t)stacks * trace.depth];
        uint32_t fresh = stacks ? trace.fresh : trace.depth;

        memcpy(stack, &known[(size_t)from * trace.depth], trace.depth * sizeof(*stack));
        if (i % trace.repeat == 0) {
            for (uint32_t j = 0; j < fresh; j++)
                stack[j] = FRAME_KEY(1, 16 * (next_random(&seed) % trace.pcs));
            stacks++;
        }
        stack[0] = FRAME_KEY(1, 16 * (next_random(&seed) % trace.pcs));
        add(fixture.store, fixture.thread, i * 1000, trace.depth, stack);
    }
    store_views(fixture.store, &STORE_ASK_ALL, &views, &count, NULL);
    for (uint32_t i = 0; i < count; i++)
        *nodes += views[i].chunk->node_count;
    store_views_free(views, count);
    free(known);
    return (double)store_bytes(fixture.store) / trace.samples;
}

/* The shapes that were measured: an interpreter repeats its stacks, a compiler hardly ever. */
static void a_sample_takes_few_bytes(void **state)
{
    struct trace python = { 58000, 19, 7, 33, 7286 };
    struct trace compiler = { 4595, 23, 7, 1, 9453 };
    uint32_t nodes = 0;
    double bytes;

    (void)state;
    bytes = bytes_per_sample(python, &nodes);
    print_message("python: %.1f bytes/sample, %u nodes\n", bytes, nodes);
    assert_in_range(nodes, 10000, 12000);
    assert_true(bytes <= 24);
    nodes = 0;
    bytes = bytes_per_sample(compiler, &nodes);
    print_message("cc1plus: %.1f bytes/sample, %u nodes\n", bytes, nodes);
    assert_in_range(nodes, 25000, 28000);
    assert_true(bytes <= 95);
}

/* Tags cost what their number costs, not a byte of each sample. */
static void a_tag_on_each_sample_costs_nothing_a_sample(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(fixture_close) struct fixture plain;
    struct store_sample sample = { .depth = 1, .frames = (const uint64_t[]){ FRAME_KEY(1, 1) } };

    (void)state;
    fixture_open(&fixture, 0);
    fixture_open(&plain, 0);
    for (uint32_t i = 0; i < 50000; i++) {
        sample.timestamp_us = i;
        sample.thread = fixture.thread;
        sample.tag = i % 7;
        assert_int_equal(store_add(fixture.store, &sample), 0);
        sample.thread = plain.thread;
        sample.tag = 0;
        assert_int_equal(store_add(plain.store, &sample), 0);
    }
    assert_in_range(store_bytes(fixture.store), 0, store_bytes(plain.store) + 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_comes_back_as_it_was_stored),
        cmocka_unit_test(weights_add_up_to_a_thousandth),
        cmocka_unit_test(a_full_store_lets_the_oldest_go_and_counts_them),
        cmocka_unit_test(a_quiet_process_keeps_its_samples_beside_a_busy_one),
        cmocka_unit_test(busy_processes_share_a_full_store),
        cmocka_unit_test(a_view_keeps_its_chunk_when_the_store_lets_it_go),
        cmocka_unit_test(clearing_one_process_leaves_the_others_alone),
        cmocka_unit_test(clearing_the_only_process_gives_the_memory_back),
        cmocka_unit_test(clearing_a_thread_forgets_its_samples_only),
        cmocka_unit_test(evicted_threads_are_listed_no_more),
        cmocka_unit_test(cleared_samples_are_not_counted_as_evicted),
        cmocka_unit_test(a_new_name_holds_for_what_is_already_stored),
        cmocka_unit_test(a_long_pause_begins_a_new_chunk),
        cmocka_unit_test(a_sample_takes_few_bytes),
        cmocka_unit_test(a_tag_on_each_sample_costs_nothing_a_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

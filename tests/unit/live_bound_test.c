/* Of a heap that grows ever fewer are followed, and what lives is told right all the same: the program's half
 * and the service's, with a heap that is made up, by seeds that stand here. */
#include "sampler/capture/own/countdown.h"
#include "sampler/capture/own/followed.h"

#include "sampler/capture/address_filter.h"
#include "sampler/capture/own_rates.h"
#include "sampler/capture/sampler_state.h"
#include "sampler/feed/feed_allocations.h"
#include "sampler/profile/store/frame.h"
#include "sampler/profile/store/stores.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "feed_both.h"

enum {
    MIB = 1 << 20,
    FILTER = 65536,
    ROUND = 4 * MIB, /* bytes from one look of the service to the next */
    BLOCKS_MAX = 1 << 20,
    SITES = 200, /* each with a stack of its own */
};

struct block {
    uint64_t address, bytes;
    uint64_t mark; /* as long as it is followed, for all that is known here */
};

struct heap {
    struct both *both;
    struct stores stores;
    struct owners owners;
    struct owner_thread *thread;
    struct live_set *set;
    struct isoscope_memory_thread countdown;
    uint64_t random;
    struct block *blocks;
    uint32_t count;
    uint64_t next_address;
    double bytes, since_round;
};

static int make_heap(void **state)
{
    struct heap *heap = calloc(1, sizeof *heap);

    make_both((void **)&heap->both);
    sampler.writer = heap->both->writer;
    assert_int_equal(stores_new(&heap->stores, 0), 0);
    assert_int_equal(owners_new(&heap->owners, 1), 0);
    assert_int_equal(owner_thread_new(&heap->thread, heap->owners.of[SAMPLES_OF_LIVE], 10, "main"),
                     0);
    heap->set = live_set_new(heap->stores.live, heap->owners.of[SAMPLES_OF_LIVE]);
    assert_non_null(heap->set);
    heap->blocks = calloc(BLOCKS_MAX, sizeof *heap->blocks);
    assert_non_null(heap->blocks);
    heap->next_address = 0x7f0000000000;
    *state = heap;
    return 0;
}

static int free_heap(void **state)
{
    struct heap *heap = *state;
    void *both = heap->both;

    live_set_free(heap->set);
    owner_thread_release(heap->thread);
    owners_release(&heap->owners);
    stores_free(&heap->stores);
    heap->both->writer = sampler.writer; /* it may have mapped more */
    free_both(&both);
    free(heap->blocks);
    free(heap);
    return 0;
}

static void begin(struct heap *heap, uint32_t mean, uint64_t seed)
{
    static uint8_t filter[FILTER];

    own_rates_prepare_allocations(mean, filter, false);
    own_rates_begin();
    assert_true(address_filter_reach()); /* with a sanitizer nothing is sampled, and it is not */
    heap->countdown = (struct isoscope_memory_thread){ .random = seed };
    heap->random = seed + 1;
    countdown_begin(&heap->countdown, 1, mean, 0);
}

static bool lives(const void *context, uint64_t mark)
{
    return feed_reader_allocation_lives(context, mark);
}

static uint32_t level_of(const void *context)
{
    return feed_reader_allocations_level(context);
}

/* What program and service have of it. */
static size_t bookkeeping(const struct heap *heap)
{
    return live_set_bytes(heap->set) + feed_reader_allocations_bytes(heap->both->reader) + FILTER;
}

/* As the service does ten times in a second. */
static void look(struct heap *heap)
{
    const struct live_table table = { lives, level_of, heap->both->reader };

    heap->since_round = 0;
    live_set_sweep(heap->set, &table);
    feed_reader_raise_level(
        heap->both->reader,
        live_set_bound(heap->set, feed_reader_allocations_bytes(heap->both->reader)));
}

static void store(struct heap *heap, const struct block *block)
{
    uint64_t frames[20];
    const struct store_sample sample = { .kind = SAMPLES_OF_LIVE,
                                         .thread = heap->thread,
                                         .timestamp_us = 1,
                                         .depth = 20,
                                         .frames = frames };

    for (uint32_t i = 0; i < 20; i++)
        frames[i] = FRAME_KEY(1, 16 * (i < 10 ? block->bytes * 31 % SITES : i));
    assert_int_equal(
        live_set_add(heap->set, block->mark, block->bytes, heap->countdown.mean_bytes, &sample), 0);
}

static void allocate(struct heap *heap, uint64_t bytes)
{
    struct block *block = &heap->blocks[heap->count++];

    assert_true(heap->count < BLOCKS_MAX);
    *block = (struct block){ heap->next_address, bytes, 0 };
    heap->next_address += (bytes + 31) & ~UINT64_C(15);
    heap->bytes += (double)bytes;
    heap->since_round += (double)bytes;
    heap->countdown.left -= (int64_t)bytes;
    if (heap->countdown.left < 0 && countdown_is_reached(&heap->countdown)) {
        block->mark = followed_begin(block->address, countdown_level(&heap->countdown, bytes));
        if (block->mark)
            store(heap, block);
        countdown_draw(&heap->countdown);
    }
    if (heap->since_round >= ROUND)
        look(heap);
}

/* Each block is freed by that chance, of 256. */
static void free_some(struct heap *heap, uint32_t chance)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < heap->count; i++) {
        const struct block *block = &heap->blocks[i];

        if (chance_next(&heap->random) >> 56 >= chance) {
            heap->blocks[kept++] = *block;
            continue;
        }
        heap->bytes -= (double)block->bytes;
        if (block->mark)
            followed_end(block->address); /* it may be followed no more */
    }
    heap->count = kept;
}

/* Bytes that are shown, and one standard error of them. */
static double shown(struct heap *heap, double *error)
{
    struct store_view *views;
    uint32_t view_count;
    double bytes = 0, variance = 0;

    assert_int_equal(stores_show(&heap->stores, SAMPLES_OF_LIVE), 0);
    assert_int_equal(
        store_views(heap->stores.of[SAMPLES_OF_LIVE], &STORE_ASK_ALL, &views, &view_count, NULL),
        0);
    for (uint32_t view = 0; view < view_count; view++)
        for (uint32_t i = 0; i < views[view].sample_count; i++) {
            const struct chunk *chunk = views[view].chunk;
            double weight = (double)chunk_sample_weight(chunk, i);

            if (i < views[view].sources[chunk->samples[i].source].first_visible)
                continue;
            bytes += weight;
            variance +=
                weight * weight * (1 - CHUNK_OBJECT_PARTS / (double)chunk_sample_objects(chunk, i));
        }
    store_views_free(views, view_count);
    *error = sqrt(variance);
    return bytes;
}

static uint32_t level_now(const struct heap *heap)
{
    return feed_reader_allocations_level(heap->both->reader);
}

/* Small blocks, some of a page and more, few of a mebibyte. */
static uint64_t any_size(struct heap *heap)
{
    uint64_t chance = chance_next(&heap->random);
    uint64_t more = chance >> 32 & 0xfff;

    if (chance % 4096 == 0)
        return MIB + more * 256;
    return chance % 16 == 0 ? 4096 + more * 4 : 16 + more / 4;
}

static void grow_to(struct heap *heap, double bytes)
{
    while (heap->bytes < bytes)
        allocate(heap, any_size(heap));
}

static void what_lives_is_within_three_standard_errors_after_several_thinnings(void **state)
{
    struct heap *heap = *state;
    double error, seen;

    begin(heap, 1024, 20240607);
    for (int step = 1; step <= 6; step++) {
        grow_to(heap, (50. + 125 * step) * MIB);
        free_some(heap, 64);
        look(heap);
        seen = shown(heap, &error);
        print_message(
            "%4.0f MiB live, seen %+5.1f standard errors of %.1f %%, level %u, %u followed\n",
            heap->bytes / MIB, (seen - heap->bytes) / error, 100 * error / heap->bytes,
            level_now(heap), feed_allocations_count(&sampler.writer));
        assert_true(fabs(seen - heap->bytes) < 3 * error);
        assert_true(error < 0.03 * heap->bytes);
    }
    assert_in_range(level_now(heap), 10 + 5, 20); /* 1,024 is 2^10 */
}

static void the_program_alone_keeps_its_bound(void **state)
{
    struct heap *heap = *state;
    const struct live_table table = { lives, level_of, heap->both->reader };
    double error, seen;

    begin(heap, 1024, 7);
    heap->since_round = -INFINITY; /* no service looks */
    grow_to(heap, 300. * MIB);
    assert_in_range(feed_allocations_count(&sampler.writer), FEED_FOLLOWED_MAX / 4,
                    FEED_FOLLOWED_MAX);
    assert_true(level_now(heap) >= 10 + 4);
    live_set_sweep(heap->set, &table);
    seen = shown(heap, &error);
    assert_true(fabs(seen - heap->bytes) < 3 * error);
    assert_int_equal(atomic_load(&sampler.writer.header->status.allocations_loose), 0);
}

/* Over many seeds the errors are of the size that is shown beside the sum, and of either sign. */
static void the_errors_are_those_that_are_shown(void **state)
{
    enum { SEEDS = 100 };
    double squares = 0, sum = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct heap *heap;
        double error, seen;

        make_heap((void **)&heap);
        begin(heap, 4096, seed * 7919);
        grow_to(heap, 120. * MIB);
        free_some(heap, 128);
        grow_to(heap, 120. * MIB);
        look(heap);
        assert_true(level_now(heap) >= 12 + 2);
        seen = (shown(heap, &error) - heap->bytes) / error;
        squares += seen * seen;
        sum += seen;
        free_heap((void **)&heap);
    }
    print_message("%d seeds: mean %+.2f, variance %.2f\n", SEEDS, sum / SEEDS, squares / SEEDS);
    /* Normal: five standard errors of the mean, and of the variance. */
    assert_true(fabs(sum) < 5 * sqrt(SEEDS));
    assert_true(fabs(squares / SEEDS - 1) < 5 * sqrt(2. / SEEDS));
}

static void bookkeeping_is_less_than_a_200th_of_the_heap(void **state)
{
    static const uint32_t means[] = { 1024, 65536, FEED_ALLOCATION_BYTES_DEFAULT };

    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct heap *heap;
        size_t small = 0;

        make_heap((void **)&heap);
        begin(heap, means[i], 42);
        for (int step = 1; step <= 40; step++) {
            size_t most;

            grow_to(heap, step * 10. * MIB);
            look(heap);
            most = bookkeeping(heap);
            if (heap->bytes <= 52. * MIB)
                small = most > small ? most : small;
            if (heap->bytes > 52. * MIB)
                assert_true((double)most < heap->bytes / 200);
            else
                assert_true(most <= LIVE_BYTES_MIN);
        }
        print_message("one in %7u: at most %3zu KiB below 52 MiB, %4zu KiB of %.0f MiB\n", means[i],
                      small / 1024, bookkeeping(heap) / 1024, heap->bytes / MIB);
        free_heap((void **)&heap);
    }
}

static void large_blocks_stay_whatever_goes(void **state)
{
    struct heap *heap = *state;
    double error, seen;

    begin(heap, 1024, 3);
    for (int i = 0; i < 10; i++)
        allocate(heap, 100 * MIB);
    for (int i = 0; i < 200000; i++)
        allocate(heap, 512);
    look(heap);
    seen = shown(heap, &error);
    assert_true(fabs(seen - heap->bytes) < 3 * error);
    assert_true(error < 0.02 * 100 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_lives_is_within_three_standard_errors_after_several_thinnings, make_heap,
            free_heap),
        cmocka_unit_test_setup_teardown(the_program_alone_keeps_its_bound, make_heap, free_heap),
        cmocka_unit_test(the_errors_are_those_that_are_shown),
        cmocka_unit_test(bookkeeping_is_less_than_a_200th_of_the_heap),
        cmocka_unit_test_setup_teardown(large_blocks_stay_whatever_goes, make_heap, free_heap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

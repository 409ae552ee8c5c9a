#include "sampler/feed/feed_reader.h"

#include "sampler/feed/feed_writer.h"
#include "sampler/include/isoscope/isoscope.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "feed_both.h"

static struct feed_sample *reserve_sample(struct both *both, uint32_t slot, uint16_t depth,
                                          struct ring_writer *ring)
{
    struct feed_sample *sample;

    feed_writer_ring(&both->writer, slot, ring);
    sample = ring_reserve(ring, (uint32_t)(sizeof *sample + depth * sizeof(uint64_t)));
    assert_non_null(sample);
    memset(sample, 0, sizeof *sample);
    sample->head.size_bytes = (uint32_t)(sizeof *sample + depth * sizeof(uint64_t));
    sample->head.type = FEED_RECORD_SAMPLE;
    sample->depth = depth;
    return sample;
}

static void write_sample(struct both *both, uint32_t slot, int64_t timestamp_us, uint16_t depth)
{
    struct ring_writer ring;
    struct feed_sample *sample = reserve_sample(both, slot, depth, &ring);

    sample->timestamp_us = timestamp_us;
    sample->cpu_ns = 1000000;
    for (uint16_t i = 0; i < depth; i++)
        sample->frames[i] = FEED_FRAME(1, i);
    ring_commit(&ring);
}

static const struct feed_sample *next_sample(struct both *both, uint32_t slot, int64_t until_us)
{
    const union feed_any *record = feed_reader_next(both->reader, slot, until_us);

    assert_non_null(record);
    assert_true(record->head.type == FEED_RECORD_SAMPLE ||
                record->head.type == FEED_RECORD_SAMPLE_OF);
    return &record->sample;
}

static uint32_t live_thread(struct both *both, int32_t tid)
{
    uint32_t slot = feed_writer_thread_claim(&both->writer, tid, 2000);

    assert_int_not_equal(slot, 0);
    feed_writer_thread_publish(&both->writer, slot);
    return slot;
}

static void a_sample_comes_out_as_it_went_in(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    const struct feed_sample *sample;
    struct feed_thread_view thread;

    feed_writer_thread_name(&both->writer, slot, "worker-1\0\0\0\0\0\0\0");
    write_sample(both, slot, 123456, 3);
    assert_true(feed_reader_thread(both->reader, slot, &thread));
    assert_int_equal(thread.tid, 17);
    assert_string_equal(thread.name, "worker-1");
    sample = next_sample(both, slot, INT64_MAX);
    assert_int_equal(sample->timestamp_us, 123456);
    assert_int_equal(sample->depth, 3);
    assert_int_equal(FEED_FRAME_MODULE(sample->frames[2]), 1);
    assert_int_equal(FEED_FRAME_OFFSET(sample->frames[2]), 2);
    assert_null(feed_reader_next(both->reader, slot, INT64_MAX));
}

static void a_sample_after_the_round_stays_for_the_next(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    const struct feed_sample *sample;

    write_sample(both, slot, 100, 1);
    write_sample(both, slot, 200, 1);
    next_sample(both, slot, 150);
    assert_null(feed_reader_next(both->reader, slot, 150));
    sample = next_sample(both, slot, 250);
    assert_int_equal(sample->timestamp_us, 200);
}

static void write_about(struct both *both, uint32_t ring_slot, uint16_t about, uint16_t type)
{
    struct ring_writer ring;
    struct feed_sample *sample = reserve_sample(both, ring_slot, 1, &ring);

    sample->head.type = type;
    sample->head.slot = about;
    sample->timestamp_us = 100;
    sample->state = FEED_STATE_LOCK;
    ring_commit(&ring);
}

static uint32_t again_period_us;

/* said: how many sleepers the record claims to have; there: how many it has. */
static void write_again(struct both *both, uint32_t ring_slot, uint32_t said, uint32_t there)
{
    uint32_t bytes = (sizeof(struct feed_again) + there * sizeof(uint32_t) + 7) & ~7u;
    struct feed_again *again;
    struct ring_writer ring;

    feed_writer_ring(&both->writer, ring_slot, &ring);
    again = ring_reserve(&ring, bytes);
    assert_non_null(again);
    again->head = (struct feed_record){ bytes, FEED_RECORD_AGAIN, 0 };
    again->timestamp_us = 100;
    again->period_us = again_period_us;
    again->rounds = 1;
    again->count = (uint16_t)said;
    for (uint32_t i = 0; i < there; i++)
        again->sleepers[i] = FEED_SLEEPER(FEED_THREADS_MAX - 1 - i, 0xffff - i, FEED_STATE_IO);
    ring_commit(&ring);
}

static void ring_0_tells_of_other_threads(void **state)
{
    struct both *both = *state;
    const struct feed_sample *sample;
    const union feed_any *record;

    write_about(both, 0, 7, FEED_RECORD_SAMPLE_OF);
    write_again(both, 0, 3, 3);
    sample = next_sample(both, 0, INT64_MAX);
    assert_int_equal(sample->head.slot, 7);
    assert_int_equal(sample->depth, 1);
    assert_int_equal(sample->state, FEED_STATE_LOCK);
    assert_int_equal(sample->head.type, FEED_RECORD_SAMPLE_OF);
    record = feed_reader_next(both->reader, 0, INT64_MAX);
    assert_non_null(record);
    assert_int_equal(record->head.type, FEED_RECORD_AGAIN);
    assert_int_equal(record->again.count, 3);
    assert_int_equal(FEED_SLEEPER_SLOT(record->again.sleepers[2]), FEED_THREADS_MAX - 3);
    assert_int_equal(FEED_SLEEPER_GENERATION(record->again.sleepers[2]), 0xfffd);
    assert_int_equal(FEED_SLEEPER_STATE(record->again.sleepers[2]), FEED_STATE_IO);
    assert_int_equal(feed_reader_corrupt(both->reader), 0);
}

static void more_sleepers_than_the_record_holds_are_not_believed(void **state)
{
    struct both *both = *state;

    write_again(both, 0, 0, 0);
    write_again(both, 0, 6, 3);
    write_again(both, 0, UINT32_MAX, 3);
    write_again(both, 0, FEED_SLEEPERS_MAX + 1, FEED_SLEEPERS_MAX + 1);
    assert_null(feed_reader_next(both->reader, 0, INT64_MAX));
    assert_int_equal(feed_reader_corrupt(both->reader), 4);
    write_again(both, 0, FEED_SLEEPERS_MAX, FEED_SLEEPERS_MAX);
    assert_non_null(feed_reader_next(both->reader, 0, INT64_MAX));
}

/* Its rounds would lie hours ahead. */
static void rounds_with_a_period_that_nobody_can_ask_for_are_not_believed(void **state)
{
    struct both *both = *state;

    again_period_us = FEED_PERIOD_MAX_US + 1;
    write_again(both, 0, 3, 3);
    again_period_us = FEED_PERIOD_MAX_US;
    assert_null(feed_reader_next(both->reader, 0, INT64_MAX));
    assert_int_equal(feed_reader_corrupt(both->reader), 1);
    write_again(both, 0, 3, 3);
    assert_non_null(feed_reader_next(both->reader, 0, INT64_MAX));
    again_period_us = 0;
}

static void a_thread_tells_of_itself_alone(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);

    write_about(both, slot, 7, FEED_RECORD_SAMPLE_OF);
    write_again(both, slot, 3, 3);
    write_about(both, 0, 7, FEED_RECORD_SAMPLE);
    assert_null(feed_reader_next(both->reader, slot, INT64_MAX));
    assert_null(feed_reader_next(both->reader, 0, INT64_MAX));
    assert_int_equal(feed_reader_corrupt(both->reader), 3);
}

/* The writer starts its ring over while the reader leaves a sample for the next round. */
static void nothing_is_lost_where_the_ring_starts_over(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    const union feed_any *record;
    int64_t written = 0, read = 0;

    while (written < 20000) {
        for (int64_t room = 1 + written % 97; room > 0; room--) {
            written++;
            write_sample(both, slot, written, (uint16_t)(written % 60));
        }
        while ((record = feed_reader_next(both->reader, slot, written - written % 3)))
            assert_int_equal(record->timed.timestamp_us, ++read);
    }
    while ((record = feed_reader_next(both->reader, slot, INT64_MAX)))
        assert_int_equal(record->timed.timestamp_us, ++read);
    assert_int_equal(read, written);
    assert_int_equal(feed_reader_corrupt(both->reader), 0);
}

static void an_ended_slot_is_another_thread_when_it_is_claimed_again(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    struct feed_thread_view first, second;

    assert_true(feed_reader_thread(both->reader, slot, &first));
    feed_writer_thread_end(&both->writer, slot);
    feed_reader_recycle(both->reader, slot);
    assert_false(feed_reader_thread(both->reader, slot, &second));
    assert_int_equal(live_thread(both, 18), slot);
    assert_true(feed_reader_thread(both->reader, slot, &second));
    assert_int_not_equal(first.generation, second.generation);
}

static void a_live_slot_cannot_be_recycled(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    struct feed_thread_view thread;

    feed_reader_recycle(both->reader, slot);
    assert_true(feed_reader_thread(both->reader, slot, &thread));
}

static void samples_that_lie_about_their_depth_are_skipped_and_counted(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    const struct feed_sample *sample;
    struct ring_writer ring;

    reserve_sample(both, slot, 2, &ring)->depth = 40;
    ring_commit(&ring);
    reserve_sample(both, slot, 2, &ring)->end = FEED_END_COUNT;
    ring_commit(&ring);
    reserve_sample(both, slot, 2, &ring)->kind = FEED_KIND_STALL; /* of ring 0 only */
    ring_commit(&ring);
    reserve_sample(both, slot, 2, &ring)->kind = FEED_KIND_COUNT;
    ring_commit(&ring);
    write_sample(both, slot, 5, 1);
    sample = next_sample(both, slot, INT64_MAX);
    assert_int_equal(sample->timestamp_us, 5);
    assert_int_equal(feed_reader_corrupt(both->reader), 4);
}

/* Of a kind that a later sampler knows. Nothing of it is looked at but its size. */
static void write_unknown(struct both *both, uint32_t slot, uint32_t bytes)
{
    struct feed_record *record;
    struct ring_writer ring;

    feed_writer_ring(&both->writer, slot, &ring);
    record = ring_reserve(&ring, bytes);
    assert_non_null(record);
    memset(record, 0xff, bytes);
    *record = (struct feed_record){ bytes, 99, 0 };
    assert_true(ring_commit(&ring));
}

static void records_of_unknown_types_are_left_out_by_their_size_and_counted(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);

    write_unknown(both, slot, 8);
    write_unknown(both, slot, 32);
    write_unknown(both, slot, sizeof(union feed_any) + 8);
    write_sample(both, slot, 5, 1);
    assert_int_equal(next_sample(both, slot, 10)->timestamp_us, 5);
    assert_null(feed_reader_next(both->reader, slot, INT64_MAX));
    assert_int_equal(feed_reader_unknown(both->reader), 3);
    assert_int_equal(feed_reader_corrupt(both->reader), 0);
}

static void a_sample_larger_than_any_can_be_is_skipped_and_counted(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    struct ring_writer ring;
    struct feed_sample *sample = reserve_sample(
        both, slot, FEED_DEPTH_MAX + 1 + sizeof(union feed_words) / sizeof(uint64_t), &ring);

    sample->depth = 1;
    ring_commit(&ring);
    write_sample(both, slot, 5, 1);
    assert_int_equal(next_sample(both, slot, INT64_MAX)->timestamp_us, 5);
    assert_int_equal(feed_reader_corrupt(both->reader), 1);
}

/* Whatever the program does to its ring then. */
static void what_was_given_out_is_a_copy(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both, 17);
    const struct feed_sample *sample;
    struct ring_writer ring;

    write_sample(both, slot, 5, 2);
    sample = next_sample(both, slot, INT64_MAX);
    feed_writer_ring(&both->writer, slot, &ring);
    memset(ring.bytes, 0xff, 4096);
    assert_int_equal(sample->depth, 2);
    assert_int_equal(FEED_FRAME_OFFSET(sample->frames[1]), 1);
}

static void modules_are_known_by_number_and_keep_their_path(void **state)
{
    struct both *both = *state;
    struct feed_module module = { .bias = 0x1000, .build_id = { 0xab }, .build_id_bytes = 20 };
    struct feed_module_view view;
    uint32_t number = feed_writer_module_add(&both->writer, &module, "/usr/lib/libfoo.so");

    assert_int_equal(number, 1);
    assert_true(feed_reader_module(both->reader, number, &view));
    assert_string_equal(view.path, "/usr/lib/libfoo.so");
    assert_int_equal(view.build_id[0], 0xab);
    assert_false(feed_reader_module(both->reader, 0, &view));
    assert_false(feed_reader_module(both->reader, 2, &view));
}

static void a_module_that_lies_about_its_build_id_or_path_is_refused(void **state)
{
    struct both *both = *state;
    struct feed_module module = { .build_id_bytes = 20 }, *entries;
    struct feed_module_view view;

    feed_writer_module_add(&both->writer, &module, "a");
    feed_writer_module_add(&both->writer, &module, "b");
    entries = both->writer.modules;
    entries[1].build_id_bytes = 21;
    entries[2].path_offset = FEED_NAMES_BYTES;
    assert_false(feed_reader_module(both->reader, 1, &view));
    assert_false(feed_reader_module(both->reader, 2, &view));
    both->writer.header->status.modules_used = UINT32_MAX;
    assert_false(feed_reader_module(both->reader, FEED_MODULES_MAX + 5, &view));
}

static void counts_beyond_the_tables_are_cut(void **state)
{
    struct both *both = *state;
    struct feed_thread_view thread;

    both->writer.header->status.threads_used = UINT32_MAX;
    assert_int_equal(feed_reader_slots(both->reader), both->writer.header->thread_capacity);
    assert_false(feed_reader_thread(both->reader, UINT32_MAX, &thread));
}

static void control_reaches_the_program(void **state)
{
    struct both *both = *state;
    uint32_t changes = both->writer.header->control.changes;

    feed_reader_control(both->reader, &(struct feed_settings){ true, 250, 64, FEED_MODE_WALL, "*",
                                                               FEED_WANT_TASKS, 4096, 50, 0 });
    assert_int_equal(both->writer.header->control.enabled, 1);
    assert_int_equal(both->writer.header->control.period_us, 250);
    assert_int_equal(both->writer.header->control.lock_us, 50);
    assert_int_equal(feed_writer_depth_max(&both->writer), 64);
    assert_int_equal(both->writer.header->control.mode, FEED_MODE_WALL);
    assert_int_not_equal(both->writer.header->control.changes, changes);
}

static void a_second_reader_goes_on_where_the_first_stopped(void **state)
{
    struct both *both = calloc(1, sizeof *both);
    const struct feed_sample *sample;
    uint32_t slot;
    int memfd, again;

    (void)state;
    assert_int_equal(feed_writer_create(&both->writer, &memfd, 1, 1), 0);
    again = dup(memfd);
    assert_int_equal(feed_reader_open(&both->reader, memfd), 0);
    slot = live_thread(both, 17);
    write_sample(both, slot, 1, 1);
    write_sample(both, slot, 2, 1);
    next_sample(both, slot, INT64_MAX);
    feed_reader_free(both->reader);
    assert_int_equal(feed_reader_open(&both->reader, again), 0);
    sample = next_sample(both, slot, INT64_MAX);
    assert_int_equal(sample->timestamp_us, 2);
    *state = both;
    free_both(state);
}

/* What a hostile or broken program may send instead of a segment. */
static void only_a_sealed_whole_segment_is_opened(void **state)
{
    struct feed_reader *reader = NULL;
    struct feed_writer writer;
    struct feed_header header;
    int memfd, copy;

    (void)state;
    assert_int_equal(feed_reader_open(&reader, open("/dev/null", O_RDONLY)), -ISOSCOPE_BAD_FEED);
    assert_int_equal(feed_writer_create(&writer, &memfd, 1, 1), 0);
    memcpy(&header, writer.header, sizeof header);
    feed_writer_destroy(&writer);
    close(memfd);

    copy = memfd_create("copy", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    assert_int_equal(ftruncate(copy, (off_t)header.feed_bytes), 0);
    assert_int_equal(pwrite(copy, &header, sizeof header, 0), sizeof header);
    assert_int_equal(feed_reader_open(&reader, dup(copy)), -ISOSCOPE_BAD_FEED); /* may shrink */
    assert_int_equal(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    assert_int_equal(feed_reader_open(&reader, dup(copy)), 0);
    feed_reader_free(reader);

    header.rings_offset = header.feed_bytes - 8;
    assert_int_equal(pwrite(copy, &header, sizeof header, 0), sizeof header);
    assert_int_equal(feed_reader_open(&reader, dup(copy)), -ISOSCOPE_BAD_FEED);
    header.rings_offset = UINT64_MAX - 7;
    assert_int_equal(pwrite(copy, &header, sizeof header, 0), sizeof header);
    assert_int_equal(feed_reader_open(&reader, copy), -ISOSCOPE_BAD_FEED);
}

static void a_name_is_there_once_however_often_it_is_said(void **state)
{
    struct both *both = *state;
    char longer[FEED_NAME_MAX + 10], name[FEED_NAME_MAX + 1];
    uint32_t parse = feed_writer_name(&both->writer, "parse");
    uint32_t copy = feed_writer_name(&both->writer, (char[]){ "parse" });

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_int_not_equal(parse, 0);
    assert_int_equal(copy, parse);
    assert_int_not_equal(feed_writer_name(&both->writer, "pars"), parse);
    assert_int_equal(feed_writer_name(&both->writer, ""), 0);
    assert_true(feed_reader_name(both->reader, parse, name));
    assert_string_equal(name, "parse");
    assert_true(feed_reader_name(both->reader, feed_writer_name(&both->writer, longer), name));
    assert_int_equal(strlen(name), FEED_NAME_MAX);
    assert_false(feed_reader_name(both->reader, 0, name));
    assert_false(feed_reader_name(both->reader, FEED_NAMES_BYTES, name));
}

static void made_up_names_leave_room_for_modules(void **state)
{
    struct both *both = *state;
    struct feed_module module = { .end = 1 };
    struct feed_status_view status;
    char name[64];
    uint32_t kept = 0;

    for (int i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "a name of a request that comes once: %d", i);
        kept += feed_writer_name(&both->writer, name) != 0;
    }
    assert_in_range(kept, 10000, 99999);
    feed_reader_status(both->reader, &status);
    assert_int_equal(status.names_full, 100000 - kept);
    assert_int_equal(feed_writer_module_add(&both->writer, &module, "/lib/late.so"), 1);
}

static void *say_names(void *argument)
{
    struct both *both = argument;
    char name[32];

    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "name-%d", i % 500);
        if (!feed_writer_name(&both->writer, name))
            return NULL;
    }
    return both;
}

static void names_of_several_threads_do_not_mix(void **state)
{
    struct both *both = *state;
    pthread_t threads[4];
    char said[32], name[FEED_NAME_MAX + 1];
    void *well;

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, say_names, both), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &well);
        assert_non_null(well);
    }
    for (int i = 0; i < 500; i++) {
        snprintf(said, sizeof said, "name-%d", i);
        assert_true(feed_reader_name(both->reader, feed_writer_name(&both->writer, said), name));
        assert_string_equal(name, said);
    }
}

#define FEED_TEST(name) cmocka_unit_test_setup_teardown(name, make_both, free_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FEED_TEST(a_sample_comes_out_as_it_went_in),
        FEED_TEST(a_sample_after_the_round_stays_for_the_next),
        FEED_TEST(ring_0_tells_of_other_threads),
        FEED_TEST(more_sleepers_than_the_record_holds_are_not_believed),
        FEED_TEST(rounds_with_a_period_that_nobody_can_ask_for_are_not_believed),
        FEED_TEST(a_thread_tells_of_itself_alone),
        FEED_TEST(nothing_is_lost_where_the_ring_starts_over),
        FEED_TEST(an_ended_slot_is_another_thread_when_it_is_claimed_again),
        FEED_TEST(a_live_slot_cannot_be_recycled),
        FEED_TEST(samples_that_lie_about_their_depth_are_skipped_and_counted),
        FEED_TEST(records_of_unknown_types_are_left_out_by_their_size_and_counted),
        FEED_TEST(a_sample_larger_than_any_can_be_is_skipped_and_counted),
        FEED_TEST(what_was_given_out_is_a_copy),
        FEED_TEST(modules_are_known_by_number_and_keep_their_path),
        FEED_TEST(a_module_that_lies_about_its_build_id_or_path_is_refused),
        FEED_TEST(counts_beyond_the_tables_are_cut),
        FEED_TEST(control_reaches_the_program),
        FEED_TEST(a_name_is_there_once_however_often_it_is_said),
        FEED_TEST(made_up_names_leave_room_for_modules),
        FEED_TEST(names_of_several_threads_do_not_mix),
        cmocka_unit_test(a_second_reader_goes_on_where_the_first_stopped),
        cmocka_unit_test(only_a_sealed_whole_segment_is_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Rings of events: what comes out of them, and what does not. */
#include "sampler/feed/feed_events.h"

#include "sampler/feed/feed_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "feed_both.h"

static uint32_t live_thread(struct both *both)
{
    uint32_t slot = feed_writer_thread_claim(&both->writer, 17, 2000);

    assert_int_not_equal(slot, 0);
    feed_writer_thread_publish(&both->writer, slot);
    return slot;
}

/* An event with these words; false: there is no room. */
static bool write_words(struct both *both, uint32_t slot, uint16_t head, const uint64_t *words,
                        uint32_t count)
{
    uint32_t bytes = (uint32_t)(sizeof(struct feed_event) + count * sizeof *words);
    struct ring_writer ring;
    struct feed_event *event;

    assert_true(feed_events_ring(&both->writer, slot, &ring));
    event = ring_reserve(&ring, bytes);
    if (!event)
        return false;
    *event = (struct feed_event){ .head = { bytes, FEED_RECORD_EVENT, head }, .timestamp_ns = 123 };
    if (count)
        memcpy(event->words, words, count * sizeof *words);
    return ring_commit(&ring);
}

static bool write_end(struct both *both, uint32_t slot)
{
    return write_words(both, slot, FEED_EVENT_HEAD(FEED_EVENT_END, FEED_STREAM_GC, 0), NULL, 0);
}

static uint64_t argument(uint32_t name, uint16_t type, uint16_t text_bytes)
{
    struct feed_argument head = { .name = name, .text_bytes = text_bytes, .type = type };
    uint64_t word;

    memcpy(&word, &head, sizeof word);
    return word;
}

static void an_event_comes_out_in_parts(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both), name = feed_writer_name(&both->writer, "upload");
    uint64_t words[] = {
        name,
        77,
        5000,
        argument(name, FEED_ARGUMENT_INT, 0),
        (uint64_t)-3,
        argument(0, FEED_ARGUMENT_TEXT, 11),
        0,
        0,
    };
    struct feed_event_parts event;
    char text[FEED_NAME_MAX + 1];

    memcpy(&words[6], "eleven byte", 11);
    write_words(both, slot, FEED_EVENT_HEAD(FEED_EVENT_FRAME, 9, 2), words, 8);
    assert_true(feed_reader_next_event(both->reader, slot, &event));
    assert_int_equal(event.phase, FEED_EVENT_FRAME);
    assert_int_equal(event.stream, 9);
    assert_int_equal(event.timestamp_ns, 123);
    assert_true(feed_reader_name(both->reader, event.name, text));
    assert_string_equal(text, "upload");
    assert_int_equal(event.id, 77);
    assert_int_equal(event.duration_ns, 5000);
    assert_int_equal(event.argument_count, 2);
    assert_int_equal((int64_t)event.arguments[0].value, -3);
    assert_int_equal(event.arguments[1].value, 11);
    assert_memory_equal(event.arguments[1].text, "eleven byte", 11);
    assert_false(feed_reader_next_event(both->reader, slot, &event));
    assert_int_equal(feed_reader_corrupt(both->reader), 0);
}

static void an_event_does_not_stand_between_samples(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both);
    struct feed_event_parts event;

    write_end(both, slot);
    assert_null(feed_reader_next(both->reader, slot, INT64_MAX));
    assert_true(feed_reader_next_event(both->reader, slot, &event));
    assert_int_equal(feed_reader_corrupt(both->reader), 0);
}

static void what_cannot_be_an_event_is_counted(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both);
    const uint64_t long_text[] = { 1, argument(0, FEED_ARGUMENT_TEXT, 17), 0, 0 };
    const uint64_t no_type[] = { 1, argument(0, FEED_ARGUMENT_TYPES, 0), 0 };
    const uint64_t words[FEED_EVENT_BYTES_MAX / 8] = { 1 };
    const uint16_t begin = FEED_EVENT_HEAD(FEED_EVENT_BEGIN, 0, 0);
    struct feed_event_parts event;

    write_words(both, slot, begin, words, 0); /* no name */
    write_words(both, slot, begin, words, 2); /* a word too many */
    write_words(both, slot, begin, words, FEED_EVENT_BYTES_MAX / 8);
    write_words(both, slot, begin | FEED_EVENT_HEAD(0, 0, 7), words, 15);
    write_words(both, slot, begin | FEED_EVENT_HEAD(0, 0, 1), words, 1);
    write_words(both, slot, begin | FEED_EVENT_HEAD(0, 0, 1), long_text, 4);
    write_words(both, slot, begin | FEED_EVENT_HEAD(0, 0, 1), no_type, 3);
    assert_false(feed_reader_next_event(both->reader, slot, &event));
    assert_int_equal(feed_reader_corrupt(both->reader), 7);
    write_end(both, slot);
    assert_true(feed_reader_next_event(both->reader, slot, &event));
}

static void a_phase_of_a_later_version_is_left_out(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both);
    struct feed_event_parts event;

    write_words(both, slot, FEED_EVENT_HEAD(15, 0, 0), (uint64_t[]){ 1, 2, 3 }, 3);
    write_end(both, slot);
    assert_true(feed_reader_next_event(both->reader, slot, &event));
    assert_int_equal(event.phase, FEED_EVENT_END);
    assert_int_equal(feed_reader_unknown(both->reader), 1);
    assert_int_equal(feed_reader_corrupt(both->reader), 0);
}

static void a_sample_in_a_ring_of_events_is_corrupt(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both);
    struct feed_event_parts event;
    struct ring_writer ring;
    struct feed_record *record;

    assert_true(feed_events_ring(&both->writer, slot, &ring));
    record = ring_reserve(&ring, 40);
    memset(record, 0, 40);
    *record = (struct feed_record){ 40, FEED_RECORD_SAMPLE, 0 };
    ring_commit(&ring);
    assert_false(feed_reader_next_event(both->reader, slot, &event));
    assert_int_equal(feed_reader_corrupt(both->reader), 1);
}

static void a_number_of_a_ring_that_is_not_there_leads_nowhere(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both);
    struct feed_event_parts event;
    struct ring_writer ring;

    write_end(both, slot);
    atomic_store(&both->writer.threads[slot].event_ring, FEED_EVENT_RINGS_MAX + 1);
    assert_false(feed_reader_next_event(both->reader, slot, &event));
    assert_false(feed_events_ring(&both->writer, slot, &ring));
    atomic_store(&both->writer.threads[slot].event_ring, UINT32_MAX);
    assert_false(feed_reader_next_event(both->reader, slot, &event));
    assert_false(feed_events_ring(&both->writer, slot, &ring));
}

static void a_full_ring_has_what_came_first(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both), written = 0, read = 0;
    struct feed_event_parts event;

    while (write_end(both, slot))
        written++;
    assert_int_equal(written, FEED_EVENT_RING_BYTES / sizeof(struct feed_event));
    while (feed_reader_next_event(both->reader, slot, &event))
        read++;
    assert_int_equal(read, written);
    assert_true(write_end(both, slot));
}

/* As a reader that comes a hundred times a second leaves a ring behind a thread that writes 250,000
 * events in it: also behind a start at the front there is room for several times as many. */
static void a_ring_that_is_read_in_time_never_fills(void **state)
{
    enum { BETWEEN_READS = 10000, READS = 1000 };
    struct both *both = *state;
    uint32_t slot = live_thread(both);
    struct feed_event_parts event;

    for (int read = 0; read < READS; read++) {
        for (int i = 0; i < BETWEEN_READS; i++)
            assert_true(write_end(both, slot));
        while (feed_reader_next_event(both->reader, slot, &event))
            continue;
    }
}

static void a_thread_in_a_slot_that_was_used_has_its_ring(void **state)
{
    struct both *both = *state;
    uint32_t slot = live_thread(both), ring;
    struct feed_event_parts event;

    write_end(both, slot);
    ring = atomic_load(&both->writer.threads[slot].event_ring);
    assert_true(feed_reader_next_event(both->reader, slot, &event));
    feed_writer_thread_end(&both->writer, slot);
    feed_reader_recycle(both->reader, slot);
    assert_int_equal(live_thread(both), slot);
    write_end(both, slot);
    assert_int_equal(atomic_load(&both->writer.threads[slot].event_ring), ring);
    assert_true(feed_reader_next_event(both->reader, slot, &event));
    assert_false(feed_reader_next_event(both->reader, slot, &event));
}

static void rings_go_to_the_threads_that_write_events(void **state)
{
    struct both *both = *state;
    uint32_t writers = 0, refused = 0, slot;
    struct ring_writer ring;

    while ((slot = feed_writer_thread_claim(&both->writer, 1, 1)))
        if (slot % 2) {
            bool has = feed_events_ring(&both->writer, slot, &ring);

            writers += has;
            refused += !has;
        }
    assert_int_equal(writers, FEED_EVENT_RINGS_MAX - 1);
    assert_int_equal(refused, FEED_THREADS_MAX / 2 - (FEED_EVENT_RINGS_MAX - 1));
}

static void samples_go_first_where_room_is_limited(void **state)
{
    const struct rlimit small = { 8 << 20, RLIM_INFINITY };
    struct rlimit before;
    struct feed_writer writer;
    struct ring_writer ring;
    uint32_t slot;
    int memfd;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(feed_writer_create(&writer, &memfd, 1, 1), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    close(memfd);
    assert_int_equal(writer.header->thread_capacity, FEED_THREADS_MIN);
    assert_in_range(writer.header->event_ring_capacity, 2, 4);
    for (uint32_t i = 1; i < writer.header->event_ring_capacity; i++) {
        slot = feed_writer_thread_claim(&writer, 1, 1);
        assert_true(feed_events_ring(&writer, slot, &ring));
        memset(ring.bytes, 1, ring.size_bytes);
    }
    slot = feed_writer_thread_claim(&writer, 1, 1);
    assert_int_not_equal(slot, 0);
    assert_false(feed_events_ring(&writer, slot, &ring));
    feed_writer_destroy(&writer);
}

static void streams_have_their_names_and_all_are_wanted_at_first(void **state)
{
    struct both *both = *state;
    char name[FEED_NAME_MAX + 1];

    assert_int_equal(feed_reader_streams(both->reader), FEED_STREAM_COUNT);
    assert_true(feed_reader_stream(both->reader, FEED_STREAM_GC, name));
    assert_string_equal(name, "GC");
    assert_false(feed_reader_stream(both->reader, FEED_STREAM_COUNT, name));
    feed_events_stream(&both->writer, FEED_STREAM_COUNT, "physics");
    assert_int_equal(feed_reader_streams(both->reader), FEED_STREAM_COUNT + 1);
    assert_true(feed_reader_stream(both->reader, FEED_STREAM_COUNT, name));
    assert_string_equal(name, "physics");
    assert_false(feed_reader_stream(both->reader, FEED_STREAMS_MAX, name));
    assert_true(atomic_load(&both->writer.header->control.streams) == UINT64_MAX);
    feed_reader_want_streams(both->reader, 1 << FEED_STREAM_GC);
    assert_int_equal(atomic_load(&both->writer.header->control.streams), 1 << FEED_STREAM_GC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_comes_out_in_parts, make_both, free_both),
        cmocka_unit_test_setup_teardown(an_event_does_not_stand_between_samples, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(what_cannot_be_an_event_is_counted, make_both, free_both),
        cmocka_unit_test_setup_teardown(a_phase_of_a_later_version_is_left_out, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(a_sample_in_a_ring_of_events_is_corrupt, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(a_number_of_a_ring_that_is_not_there_leads_nowhere,
                                        make_both, free_both),
        cmocka_unit_test_setup_teardown(a_full_ring_has_what_came_first, make_both, free_both),
        cmocka_unit_test_setup_teardown(a_ring_that_is_read_in_time_never_fills, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(a_thread_in_a_slot_that_was_used_has_its_ring, make_both,
                                        free_both),
        cmocka_unit_test_setup_teardown(rings_go_to_the_threads_that_write_events, make_both,
                                        free_both),
        cmocka_unit_test(samples_go_first_where_room_is_limited),
        cmocka_unit_test_setup_teardown(streams_have_their_names_and_all_are_wanted_at_first,
                                        make_both, free_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

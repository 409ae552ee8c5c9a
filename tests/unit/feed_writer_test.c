/* Segments: what is mapped of them from the start, and what is when it is used. */
#include "sampler/feed/feed_writer.h"

#include "sampler/feed/feed_reader.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static struct feed_writer writer;
static struct feed_reader *reader; /* has the memfd closed */

static int set_up(void **state)
{
    int memfd;

    (void)state;
    return feed_writer_create(&writer, &memfd, getpid(), 1) < 0 || feed_reader_open(&reader, memfd);
}

static int tear_down(void **state)
{
    (void)state;
    feed_reader_free(reader);
    feed_writer_destroy(&writer);
    return 0;
}

/* Of the program, which has not one mapping as large as the reader's. */
struct mapped {
    uint64_t kilobytes;
    bool all_marked; /* neither forked nor dumped */
};

static struct mapped mapped(void)
{
    struct mapped found = { 0, true };
    FILE *file = fopen("/proc/self/smaps", "r");
    unsigned long kilobytes = 0;
    bool ours = false;
    char line[512];

    while (fgets(line, sizeof line, file)) {
        if (strstr(line, "-") && strstr(line, " rw-s "))
            ours = strstr(line, "memfd:isoscope-feed") != NULL;
        else if (ours && sscanf(line, "Size: %lu kB", &kilobytes) == 1)
            ours = kilobytes < 600 * 1024;
        if (ours && !strncmp(line, "VmFlags:", 8)) {
            found.kilobytes += kilobytes;
            found.all_marked &= strstr(line, " dc") && strstr(line, " dd");
            ours = false;
        }
    }
    fclose(file);
    return found;
}

static void write_sample(uint32_t slot)
{
    struct ring_writer ring;
    struct feed_sample *sample;

    feed_writer_ring(&writer, slot, &ring);
    sample = ring_reserve(&ring, sizeof *sample + 8);
    assert_non_null(sample);
    memset(sample, 0, sizeof *sample + 8);
    sample->head = (struct feed_record){ sizeof *sample + 8, FEED_RECORD_SAMPLE, 0 };
    sample->depth = 1;
    sample->frames[0] = slot;
    ring_commit(&ring);
}

static void assert_sample_of(uint32_t slot)
{
    const union feed_any *record = feed_reader_next(reader, slot, INT64_MAX);

    assert_non_null(record);
    assert_int_equal(record->sample.depth, 1);
    assert_int_equal(record->sample.frames[0], slot);
    assert_null(feed_reader_next(reader, slot, INT64_MAX));
}

static void at_first_less_than_three_megabytes_are_mapped(void **state)
{
    (void)state;
    assert_in_range(mapped().kilobytes, 1, 3 * 1024);
    assert_true(mapped().all_marked);
}

static void each_of_all_threads_has_a_ring_of_its_own(void **state)
{
    uint32_t count = 0, slot;

    (void)state;
    while ((slot = feed_writer_thread_claim(&writer, 1, 1))) {
        assert_int_equal(slot, ++count);
        feed_writer_thread_publish(&writer, slot);
        write_sample(slot);
    }
    assert_int_equal(count, FEED_THREADS_MAX - 1);
    assert_true(mapped().all_marked);
    for (slot = 1; slot <= count; slot++)
        assert_sample_of(slot);
}

static void a_segment_that_goes_leaves_no_mapping(void **state)
{
    struct feed_writer other;
    uint64_t before = mapped().kilobytes;
    int memfd;

    (void)state;
    assert_int_equal(feed_writer_create(&other, &memfd, getpid(), 1), 0);
    close(memfd);
    for (int i = 0; i < 100; i++)
        feed_writer_thread_claim(&other, 1, 1);
    assert_true(mapped().kilobytes > before + 100 * FEED_RING_BYTES / 1024);
    feed_writer_destroy(&other);
    assert_int_equal(mapped().kilobytes, before);
}

enum { CLAIMERS = 8, CLAIMS = 100 };

/* As ticks do of threads that nobody told of. */
static void claim_in_handler(int number)
{
    (void)number;
    write_sample(feed_writer_thread_claim(&writer, 1, 1));
}

static void *claim_many(void *unused)
{
    for (int i = 0; i < CLAIMS; i++)
        raise(SIGUSR1);
    return unused;
}

static void threads_that_claim_at_once_in_signal_handlers_get_a_ring_each(void **state)
{
    pthread_t claimers[CLAIMERS];

    (void)state;
    signal(SIGUSR1, claim_in_handler);
    for (int i = 0; i < CLAIMERS; i++)
        pthread_create(&claimers[i], NULL, claim_many, NULL);
    for (int i = 0; i < CLAIMERS; i++)
        pthread_join(claimers[i], NULL);
    signal(SIGUSR1, SIG_DFL);
    for (uint32_t slot = 1; slot <= CLAIMERS * CLAIMS; slot++)
        assert_sample_of(slot);
}

static void without_address_space_a_thread_gets_no_slot_and_later_one_does(void **state)
{
    struct rlimit before, none;
    uint32_t count = 0, slot;

    (void)state;
    getrlimit(RLIMIT_AS, &before);
    none = (struct rlimit){ 4096, before.rlim_max };
    setrlimit(RLIMIT_AS, &none);
    while ((slot = feed_writer_thread_claim(&writer, 1, 1)))
        count++;
    setrlimit(RLIMIT_AS, &before);
    assert_in_range(count, 1, 16);
    assert_int_equal(writer.threads[count + 1].state, FEED_THREAD_FREE);
    assert_int_equal(feed_writer_thread_claim(&writer, 1, 1), count + 1);
    write_sample(count + 1);
    assert_sample_of(count + 1);
}

static void many_names_are_kept_once_and_read(void **state)
{
    enum { COUNT = 3000 };
    static uint32_t places[COUNT];
    char name[202], read[FEED_NAME_MAX + 1];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++) {
            uint32_t place;

            snprintf(name, sizeof name, "%0201d", i);
            place = feed_writer_name(&writer, name);
            assert_true(place != 0 && (!round || place == places[i]));
            places[i] = place;
            assert_true(feed_reader_name(reader, place, read));
            assert_string_equal(read, name);
        }
    assert_int_equal(writer.header->status.names_full, 0);
}

static void many_modules_are_kept_and_read(void **state)
{
    struct feed_module module = { .bias = 0, .start = 0x1000, .end = 0x2000 };
    struct feed_module_view view;
    char path[32];

    (void)state;
    for (uint32_t i = 1; i < 5000; i++) {
        snprintf(path, sizeof path, "/lib/%u.so", i);
        module.bias = i;
        assert_int_equal(feed_writer_module_add(&writer, &module, path), i);
        assert_true(feed_reader_module(reader, i, &view));
        assert_int_equal(view.bias, i);
        assert_string_equal(view.path, path);
    }
}

static void a_module_without_room_is_counted(void **state)
{
    const _Atomic uint64_t *lost = &writer.header->status.lost[FEED_LOSS_MODULES_FULL];
    struct feed_module module = { 0 };
    char path[200];
    uint32_t added = 0;

    (void)state;
    do /* the room for names ends before that for modules */
        snprintf(path, sizeof path, "/%0*u", (int)sizeof path - 2, added++);
    while (feed_writer_module_add(&writer, &module, path));
    assert_in_range(added, FEED_NAMES_BYTES / sizeof path / 2, FEED_MODULES_MAX);
    assert_int_equal(*lost, 1);
}

/* The service may have lost its mind. */
static void what_the_service_writes_over_sizes_leads_nowhere_else(void **state)
{
    struct feed_module module = { .bias = 0 };

    (void)state;
    writer.header->thread_capacity = writer.header->module_capacity = UINT32_MAX;
    writer.header->names_bytes = UINT32_MAX;
    for (uint32_t slot = 1; slot < FEED_THREADS_MAX; slot++)
        writer.threads[slot].state = FEED_THREAD_LIVE;
    assert_int_equal(feed_writer_thread_claim(&writer, 1, 1), 0);
    writer.header->status.modules_used = FEED_MODULES_MAX;
    assert_int_equal(feed_writer_module_add(&writer, &module, "/a"), 0);
    writer.header->status.modules_used = 1;
    writer.header->status.names_used = UINT32_MAX - 1;
    assert_int_equal(feed_writer_module_add(&writer, &module, "/a"), 0);
    assert_int_equal(feed_writer_name(&writer, "name"), 0);
    for (uint32_t i = 0; i < FEED_NAME_INDEX_SLOTS; i++)
        writer.name_index[i] = i % 2 ? UINT32_MAX : FEED_NAMES_BYTES - 1;
    assert_int_equal(feed_writer_name(&writer, "name"), 0);
}

int main(void)
{
#define WITH_SEGMENT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SEGMENT(at_first_less_than_three_megabytes_are_mapped),
        WITH_SEGMENT(each_of_all_threads_has_a_ring_of_its_own),
        WITH_SEGMENT(a_segment_that_goes_leaves_no_mapping),
        WITH_SEGMENT(threads_that_claim_at_once_in_signal_handlers_get_a_ring_each),
        WITH_SEGMENT(without_address_space_a_thread_gets_no_slot_and_later_one_does),
        WITH_SEGMENT(many_names_are_kept_once_and_read),
        WITH_SEGMENT(many_modules_are_kept_and_read),
        WITH_SEGMENT(a_module_without_room_is_counted),
        WITH_SEGMENT(what_the_service_writes_over_sizes_leads_nowhere_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

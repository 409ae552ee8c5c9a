/* Functions of runtimes: told once, by content, from anywhere, and read whatever a program wrote. */
#include "sampler/feed/feed_codes.h"

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
static struct feed_reader *reader;
static uint8_t buffer[FEED_CODE_BYTES_MAX];

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

static struct feed_code_text code_of(const char *name)
{
    return (struct feed_code_text){ .runtime = FEED_RUNTIME_CPYTHON,
                                    .lines = FEED_LINES_CPYTHON_311,
                                    .name = name,
                                    .file = "/app/shapes.py",
                                    .table = (const uint8_t *)"\x80\x01\x02",
                                    .name_bytes = (uint32_t)strlen(name),
                                    .file_bytes = 14,
                                    .table_bytes = 3,
                                    .first_line = 7 };
}

static uint32_t tell(const char *name)
{
    const struct feed_code_text text = code_of(name);

    return feed_writer_code(&writer, &text);
}

static void assert_reads(uint32_t id, const char *name)
{
    struct feed_code_text out;

    assert_true(feed_reader_code(reader, id, buffer, &out));
    assert_int_equal(out.runtime, FEED_RUNTIME_CPYTHON);
    assert_int_equal(out.lines, FEED_LINES_CPYTHON_311);
    assert_int_equal(out.first_line, 7);
    assert_int_equal(out.name_bytes, strlen(name));
    assert_memory_equal(out.name, name, out.name_bytes);
    assert_int_equal(out.file_bytes, 14);
    assert_memory_equal(out.file, "/app/shapes.py", 14);
    assert_int_equal(out.table_bytes, 3);
    assert_memory_equal(out.table, "\x80\x01\x02", 3);
}

static void a_code_is_read_as_it_was_told(void **state)
{
    uint32_t id = tell("Shape.area");

    (void)state;
    assert_int_not_equal(id, 0);
    assert_reads(id, "Shape.area");
    assert_int_equal(feed_reader_corrupt(reader), 0);
}

static void the_same_code_made_again_is_the_same(void **state)
{
    uint32_t id = tell("Shape.area");
    struct feed_code_text other = code_of("Shape.area");

    (void)state;
    assert_int_equal(tell((char[]){ "Shape.area" }), id);
    other.first_line = 8;
    assert_int_not_equal(feed_writer_code(&writer, &other), id);
    other = code_of("Shape.area");
    other.table = (const uint8_t *)"\x80\x01\x03";
    assert_int_not_equal(feed_writer_code(&writer, &other), id);
    other = code_of("Shape.area");
    other.runtime = FEED_RUNTIME_RUBY;
    assert_int_not_equal(feed_writer_code(&writer, &other), id);
}

/* What stands in one text may not slip into the next. */
static void codes_whose_texts_join_to_the_same_are_two(void **state)
{
    struct feed_code_text one = { .name = "ab", .name_bytes = 2, .file = "c", .file_bytes = 1 };
    struct feed_code_text two = { .name = "a", .name_bytes = 1, .file = "bc", .file_bytes = 2 };

    (void)state;
    assert_int_not_equal(feed_writer_code(&writer, &one), feed_writer_code(&writer, &two));
}

static void of_long_texts_the_beginnings_are_kept_and_of_a_table_nothing(void **state)
{
    static char name[FEED_CODE_NAME_MAX + 3], file[2 * FEED_CODE_FILE_MAX];
    static uint8_t table[FEED_CODE_TABLE_MAX + 1];
    struct feed_code_text text = { .name = name,
                                   .file = file,
                                   .table = table,
                                   .name_bytes = sizeof name,
                                   .file_bytes = sizeof file,
                                   .table_bytes = sizeof table };
    struct feed_code_text out;

    (void)state;
    memset(name, 'n', sizeof name);
    memcpy(name + FEED_CODE_NAME_MAX - 1, "\xc3\xa9", 2); /* a letter that the end would cut */
    memset(file, 'f', sizeof file);
    assert_true(feed_reader_code(reader, feed_writer_code(&writer, &text), buffer, &out));
    assert_int_equal(out.name_bytes, FEED_CODE_NAME_MAX - 1);
    assert_int_equal(out.file_bytes, FEED_CODE_FILE_MAX);
    assert_int_equal(out.table_bytes, 0);
    text.table_bytes--;
    assert_true(feed_reader_code(reader, feed_writer_code(&writer, &text), buffer, &out));
    assert_int_equal(out.table_bytes, FEED_CODE_TABLE_MAX);
}

static void a_code_with_no_texts_is_one(void **state)
{
    struct feed_code_text none = { 0 }, out;
    uint32_t id = feed_writer_code(&writer, &none);

    (void)state;
    assert_int_not_equal(id, 0);
    assert_int_equal(feed_writer_code(&writer, &none), id);
    assert_true(feed_reader_code(reader, id, buffer, &out));
    assert_int_equal(out.name_bytes + out.file_bytes + out.table_bytes, 0);
}

enum { TELLERS = 4, NAMES = 400 };

static _Atomic uint32_t ids[TELLERS][NAMES];
static _Atomic int tellers;
static __thread int teller = -1;

/* As ticks do, and each in the middle of another one's at times. */
static void tell_in_handler(int number)
{
    char name[32];

    (void)number;
    if (teller < 0)
        return;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "function_%d", i);
        ids[teller][i] = tell(name);
    }
}

static void *tell_all(void *unused)
{
    teller = atomic_fetch_add(&tellers, 1);
    raise(SIGUSR1);
    return unused;
}

static void threads_that_tell_at_once_in_signal_handlers_have_the_same_ids(void **state)
{
    pthread_t threads[TELLERS];
    char name[32];

    (void)state;
    tellers = 0;
    signal(SIGUSR1, tell_in_handler);
    for (int i = 0; i < TELLERS; i++)
        pthread_create(&threads[i], NULL, tell_all, NULL);
    for (int i = 0; i < TELLERS; i++)
        pthread_join(threads[i], NULL);
    signal(SIGUSR1, SIG_DFL);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "function_%d", i);
        for (int other = 1; other < TELLERS; other++)
            assert_int_equal(ids[other][i], ids[0][i]);
        assert_reads(ids[0][i], name);
    }
}

/* Across all windows that the program maps of them, one by one. */
static void codes_up_to_the_end_are_kept_and_those_beyond_it_counted(void **state)
{
    static uint8_t table[FEED_CODE_TABLE_MAX];
    static uint32_t told[FEED_CODES_BYTES / FEED_CODE_TABLE_MAX + 1];
    struct feed_code_text text = { .name = "f", .name_bytes = 1, .table = table };
    struct feed_status_view status;
    struct feed_code_text out;
    uint32_t count = 0;

    (void)state;
    text.table_bytes = sizeof table;
    while ((told[count] = feed_writer_code(&writer, &text)))
        text.first_line = ++count;
    assert_in_range(count, FEED_CODES_BYTES / FEED_CODE_TABLE_MAX * 9 / 10,
                    FEED_CODES_BYTES / FEED_CODE_TABLE_MAX);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(feed_reader_code(reader, told[i], buffer, &out));
        assert_int_equal(out.first_line, i);
        text.first_line = i;
        assert_int_equal(feed_writer_code(&writer, &text), told[i]);
    }
    feed_reader_status(reader, &status);
    assert_int_equal(status.codes_full, 1);
}

static void the_service_tells_codes_in_the_same_place(void **state)
{
    struct feed_writer service;
    const struct feed_code_text text = code_of("Shape.area"), other = code_of("Shape.name");
    uint32_t id = tell("Shape.area"), new;

    (void)state;
    assert_true(feed_reader_writer(reader, &service));
    assert_int_equal(feed_writer_code(&service, &text), id);
    new = feed_writer_code(&service, &other);
    assert_int_equal(tell("Shape.name"), new);
    assert_reads(new, "Shape.name");
}

static void without_address_space_a_code_has_no_id_and_later_it_has(void **state)
{
    struct rlimit before, none;
    struct feed_status_view status;

    (void)state;
    getrlimit(RLIMIT_AS, &before);
    none = (struct rlimit){ 4096, before.rlim_max };
    setrlimit(RLIMIT_AS, &none);
    assert_int_equal(tell("Shape.area"), 0);
    setrlimit(RLIMIT_AS, &before);
    feed_reader_status(reader, &status);
    assert_int_equal(status.codes_full, 1);
    assert_reads(tell("Shape.area"), "Shape.area");
}

/* Where little may be mapped there is no room for codes from the start. */
static void where_address_space_is_limited_all_codes_are_counted_as_lost(void **state)
{
    struct rlimit before, little;
    struct feed_writer small;
    const struct feed_code_text text = code_of("Shape.area");
    int memfd = -1;

    (void)state;
    getrlimit(RLIMIT_AS, &before);
    little = (struct rlimit){ UINT64_C(1) << 30, before.rlim_max };
    if (setrlimit(RLIMIT_AS, &little) < 0 || feed_writer_create(&small, &memfd, getpid(), 1) < 0) {
        setrlimit(RLIMIT_AS, &before); /* a sanitizer takes more than that */
        skip();
    }
    setrlimit(RLIMIT_AS, &before);
    close(memfd);
    assert_int_equal(small.header->codes_bytes, 0);
    assert_int_equal(feed_writer_code(&small, &text), 0);
    assert_int_equal(small.header->status.codes_full, 1);
    feed_writer_destroy(&small);
}

static struct feed_code *head_at(uint32_t id)
{
    return (struct feed_code *)part_at(&writer.codes,
                                       FEED_CODE_INDEX_BYTES + (uint64_t)id * FEED_CODE_ALIGN);
}

/* The program may have written anything. */
static void what_is_no_code_is_counted_and_not_believed(void **state)
{
    struct feed_code_text out;
    uint32_t id = tell("Shape.area");
    struct feed_code whole = *head_at(id);
    uint64_t corrupt = feed_reader_corrupt(reader);

    (void)state;
#define ASSERT_NONE(change)                                                                        \
    do {                                                                                           \
        change;                                                                                    \
        assert_false(feed_reader_code(reader, id, buffer, &out));                                  \
        assert_int_equal(feed_reader_corrupt(reader), ++corrupt);                                  \
        memcpy(head_at(id), &whole, sizeof whole);                                                 \
    } while (0)
    ASSERT_NONE(head_at(id)->size_bytes = UINT32_MAX);
    ASSERT_NONE(head_at(id)->size_bytes = 0);
    ASSERT_NONE(head_at(id)->size_bytes += FEED_CODE_ALIGN);
    ASSERT_NONE(head_at(id)->file_bytes = UINT32_MAX);
    ASSERT_NONE(head_at(id)->table_bytes = UINT32_MAX - 40);
    ASSERT_NONE(head_at(id)->name_bytes--);
    ASSERT_NONE(head_at(id)->runtime = FEED_RUNTIME_KIND_COUNT);
    ASSERT_NONE(head_at(id)->lines = FEED_LINES_COUNT);
    ASSERT_NONE(head_at(id)->first_line++);
    assert_reads(id, "Shape.area");
    head_at(id)->bytes[0] ^= 1;
    assert_false(feed_reader_code(reader, id, buffer, &out));
    assert_false(feed_reader_code(reader, 0, buffer, &out));
    assert_false(feed_reader_code(reader, FEED_CODES_BYTES / FEED_CODE_ALIGN - 1, buffer, &out));
    assert_false(feed_reader_code(reader, FEED_CODES_BYTES / FEED_CODE_ALIGN, buffer, &out));
    assert_false(feed_reader_code(reader, (1 << FEED_CODE_BITS) - 1, buffer, &out));
}

/* The service may have lost its mind. */
static void what_the_service_writes_over_codes_leads_nowhere_else(void **state)
{
    _Atomic uint32_t *index;

    (void)state;
    assert_int_not_equal(tell("Shape.area"), 0);
    index = (_Atomic uint32_t *)part_at(&writer.codes, 0);
    for (uint32_t i = 0; i < FEED_CODE_INDEX_SLOTS; i++)
        index[i] = i % 3 == 0   ? UINT32_MAX
                   : i % 3 == 1 ? FEED_CODES_BYTES / FEED_CODE_ALIGN - 1
                                : i;
    writer.header->codes_bytes = UINT32_MAX;
    writer.header->status.codes_used = UINT32_MAX - 15;
    assert_int_equal(tell("Shape.area"), 0);
    writer.header->status.codes_used = 17;
    assert_int_equal(tell("Shape.area"), 0);
    writer.header->status.codes_used = FEED_CODES_BYTES - FEED_CODE_ALIGN;
    assert_int_equal(tell("Shape.area"), 0);
}

static void a_runtime_is_told_and_stays(void **state)
{
    struct feed_runtime told = { .kind = FEED_RUNTIME_RUBY, .version = 31, .range_count = 1 };

    (void)state;
    told.ranges[0] = (struct feed_runtime_range){ 0x1000, 0x2000, 1, 0 };
    told.words[FEED_RUNTIME_WORDS_MAX - 1] = 99;
    for (uint32_t entry = 0; entry < FEED_RUNTIMES_MAX; entry++) {
        told.version = 31 + entry;
        assert_true(feed_reader_runtime(reader, &told));
        assert_int_equal(writer.header->control.runtimes_used, entry + 1);
        assert_int_equal(writer.runtimes[entry].ready, 1);
        assert_int_equal(writer.runtimes[entry].version, 31 + entry);
        assert_int_equal(writer.runtimes[entry].ranges[0].end, 0x2000);
        assert_int_equal(writer.runtimes[entry].words[FEED_RUNTIME_WORDS_MAX - 1], 99);
    }
    assert_false(feed_reader_runtime(reader, &told));
    feed_reader_wants(reader, FEED_WANT_GIL);
    assert_int_equal(writer.header->control.wants, FEED_WANT_GIL);
}

int main(void)
{
#define WITH_SEGMENT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_SEGMENT(a_code_is_read_as_it_was_told),
        WITH_SEGMENT(the_same_code_made_again_is_the_same),
        WITH_SEGMENT(codes_whose_texts_join_to_the_same_are_two),
        WITH_SEGMENT(of_long_texts_the_beginnings_are_kept_and_of_a_table_nothing),
        WITH_SEGMENT(a_code_with_no_texts_is_one),
        WITH_SEGMENT(threads_that_tell_at_once_in_signal_handlers_have_the_same_ids),
        WITH_SEGMENT(codes_up_to_the_end_are_kept_and_those_beyond_it_counted),
        WITH_SEGMENT(the_service_tells_codes_in_the_same_place),
        WITH_SEGMENT(without_address_space_a_code_has_no_id_and_later_it_has),
        cmocka_unit_test(where_address_space_is_limited_all_codes_are_counted_as_lost),
        WITH_SEGMENT(what_is_no_code_is_counted_and_not_believed),
        WITH_SEGMENT(what_the_service_writes_over_codes_leads_nowhere_else),
        WITH_SEGMENT(a_runtime_is_told_and_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "sampler/feed/ring.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

enum { RING_BYTES = 256 * 1024 };

struct pair {
    struct feed_thread thread;
    struct ring_busy busy;
    struct ring_writer writer;
    struct ring_reader reader;
};

static int make_pair(void **state)
{
    struct pair *pair = calloc(1, sizeof *pair);
    uint8_t *bytes = calloc(1, RING_BYTES);

    assert_non_null(pair);
    assert_non_null(bytes);
    pair->writer = (struct ring_writer){ .head = &pair->thread.head,
                                         .tail = &pair->thread.tail,
                                         .bytes = bytes,
                                         .size_bytes = RING_BYTES,
                                         .low_bytes = FEED_RING_LOW_BYTES,
                                         .busy = &pair->busy };
    pair->reader = (struct ring_reader){ .head = &pair->thread.head,
                                         .told = &pair->thread.tail,
                                         .bytes = bytes,
                                         .size_bytes = RING_BYTES };
    *state = pair;
    return 0;
}

static int free_pair(void **state)
{
    struct pair *pair = *state;

    free(pair->writer.bytes);
    free(pair);
    return 0;
}

/* A record of size_bytes whose content is its mark. */
static bool write_record(struct pair *pair, uint32_t size_bytes, uint64_t mark)
{
    struct feed_record *record = ring_reserve(&pair->writer, size_bytes);

    if (!record)
        return false;
    *record = (struct feed_record){ .size_bytes = size_bytes, .type = FEED_RECORD_SAMPLE };
    memcpy(record + 1, &mark, sizeof mark);
    ring_commit(&pair->writer);
    return true;
}

static uint64_t read_mark(struct pair *pair)
{
    static uint8_t record[RING_BYTES];
    uint64_t mark;

    assert_true(ring_read(&pair->reader, record, sizeof record) > 0);
    memcpy(&mark, record + sizeof(struct feed_record), sizeof mark);
    ring_release(&pair->reader);
    return mark;
}

static void records_come_out_in_the_order_they_went_in(void **state)
{
    struct pair *pair = *state;
    uint8_t none[8];

    for (uint64_t mark = 1; mark <= 3; mark++)
        assert_true(write_record(pair, 32, mark));
    for (uint64_t mark = 1; mark <= 3; mark++)
        assert_int_equal(read_mark(pair), mark);
    assert_int_equal(ring_read(&pair->reader, none, sizeof none), 0);
}

static void a_reserved_record_is_not_seen_before_it_is_committed(void **state)
{
    struct pair *pair = *state;
    uint8_t none[64];

    assert_non_null(ring_reserve(&pair->writer, 64));
    assert_int_equal(ring_read(&pair->reader, none, sizeof none), 0);
}

/* What was there stays readable. */
static void a_full_ring_refuses_the_newest(void **state)
{
    struct pair *pair = *state;
    uint64_t written = 0;

    while (write_record(pair, 1024, written))
        written++;
    assert_int_equal(written, RING_BYTES / 1024);
    for (uint64_t mark = 0; mark < written; mark++)
        assert_int_equal(read_mark(pair), mark);
    assert_true(write_record(pair, 1024, 77));
    assert_int_equal(read_mark(pair), 77);
}

/* 1000 is no divisor of the ring's size, so records meet its end at every place. */
static void records_never_wrap_inside(void **state)
{
    struct pair *pair = *state;

    for (uint64_t mark = 0; mark < 3000; mark++) {
        assert_true(write_record(pair, 1000, 2 * mark));
        assert_true(write_record(pair, 1000, 2 * mark + 1));
        assert_int_equal(read_mark(pair), 2 * mark);
        assert_int_equal(read_mark(pair), 2 * mark + 1);
    }
}

static void a_ring_that_is_read_in_time_stays_in_its_first_pages(void **state)
{
    struct pair *pair = *state;

    for (uint64_t mark = 0; mark < 2000; mark++) {
        assert_true(write_record(pair, 1024, mark));
        assert_true((pair->writer.reserved_at & (RING_BYTES - 1)) <= FEED_RING_LOW_BYTES);
        assert_int_equal(read_mark(pair), mark);
    }
}

/* Handed over smaller than reserved: the next one begins right behind it. */
static void a_record_may_turn_out_smaller_than_reserved(void **state)
{
    struct pair *pair = *state;
    struct feed_record *record = ring_reserve(&pair->writer, 4096);
    uint64_t mark = 5;

    *record = (struct feed_record){ .size_bytes = 16, .type = FEED_RECORD_SAMPLE };
    memcpy(record + 1, &mark, sizeof mark);
    ring_commit(&pair->writer);
    assert_true(write_record(pair, 16, 6));
    assert_int_equal(pair->thread.head, 32);
    assert_int_equal(read_mark(pair), 5);
    assert_int_equal(read_mark(pair), 6);
}

static void nonsense_is_refused_and_can_be_skipped(void **state)
{
    static const uint32_t sizes[] = { 0, 4, 7, 12, 4096, UINT32_MAX - 7, UINT32_MAX };
    struct pair *pair = *state;
    uint8_t out[512];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct feed_record *record = ring_reserve(&pair->writer, 64);

        *record = (struct feed_record){ .size_bytes = 64, .type = FEED_RECORD_SAMPLE };
        ring_commit(&pair->writer);
        record->size_bytes = sizes[i];
        assert_int_equal(ring_read(&pair->reader, out, sizeof out), -1);
        ring_skip(&pair->reader);
        assert_int_equal(ring_read(&pair->reader, out, sizeof out), 0);
    }
}

static void a_head_that_could_not_be_true_is_refused(void **state)
{
    struct pair *pair = *state;
    uint8_t out[64];

    pair->thread.head = UINT64_C(1) << 40;
    assert_int_equal(ring_read(&pair->reader, out, sizeof out), -1);
    ring_skip(&pair->reader);
    assert_int_equal(ring_read(&pair->reader, out, sizeof out), 0);
}

struct mark_record {
    struct feed_record head;
    uint64_t marks[4]; /* all the same, or the record is torn */
};

/* As a tick does, or the thread itself. */
static bool put_marks(struct pair *pair, uint64_t mark)
{
    const struct mark_record record = { .head = { sizeof record, FEED_RECORD_SAMPLE, 0 },
                                        .marks = { mark, mark, mark, mark } };
    struct ring_writer writer = pair->writer;

    return ring_put(&writer, &record.head);
}

/* 0: there is none. */
static uint64_t read_marks(struct pair *pair)
{
    struct mark_record record;
    int bytes = ring_read(&pair->reader, &record, sizeof record);

    if (bytes == 0)
        return 0;
    assert_int_equal(bytes, sizeof record);
    for (size_t i = 1; i < sizeof record.marks / sizeof record.marks[0]; i++)
        assert_int_equal(record.marks[i], record.marks[0]);
    ring_release(&pair->reader);
    return record.marks[0];
}

static void a_write_in_the_middle_of_another_is_refused(void **state)
{
    struct pair *pair = *state;
    struct feed_record *record = ring_reserve(&pair->writer, 16);
    struct ring_writer tick = pair->writer;

    assert_null(ring_reserve(&tick, 16));
    assert_true(tick.refused);
    *record = (struct feed_record){ .size_bytes = 16, .type = FEED_RECORD_SAMPLE };
    memcpy(record + 1, &(uint64_t){ 5 }, 8);
    assert_false(put_marks(pair, 7));
    assert_true(ring_commit(&pair->writer));
    assert_true(write_record(pair, 16, 6));
    assert_int_equal(read_mark(pair), 5);
    assert_int_equal(read_mark(pair), 6);
}

static void after_a_write_that_came_to_nothing_the_next_is_taken(void **state)
{
    struct pair *pair = *state;

    assert_non_null(ring_reserve(&pair->writer, 64));
    ring_cancel(&pair->writer);
    assert_null(ring_reserve(&pair->writer, 2 * RING_BYTES));
    assert_false(pair->writer.refused);
    assert_true(put_marks(pair, 7));
    assert_int_equal(read_marks(pair), 7);
}

/* A handler of the program's has jumped out of it. If it does go on, it is not seen. */
static void a_write_that_never_ends_is_given_up(void **state)
{
    struct pair *pair = *state;
    struct feed_record *left = ring_reserve(&pair->writer, 16);
    int refused = 0;

    *left = (struct feed_record){ .size_bytes = 16, .type = FEED_RECORD_SAMPLE };
    while (!put_marks(pair, 7))
        refused++;
    assert_int_equal(refused, RING_REFUSALS_MAX - 1);
    assert_false(ring_commit(&pair->writer));
    ring_cancel(&pair->writer);
    assert_int_equal(read_marks(pair), 7);
    assert_int_equal(read_marks(pair), 0);
}

#if defined(__x86_64__)
/* The processor traps after each instruction; at the one that is asked for, a tick comes. */
static struct steps {
    struct pair *pair;
    uint64_t taken, at; /* instructions; the tick's */
    bool tick_kept;
} steps;

enum { TRAP_FLAG = 1 << 8 };

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (steps.taken++ != steps.at)
        return;
    steps.tick_kept = put_marks(steps.pair, 1000);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* Out of line, for it writes below the stack pointer. */
__attribute__((noinline)) static void set_trap_flag(bool on)
{
    if (on)
        __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" ::"i"(TRAP_FLAG) : "memory", "cc");
    else
        __asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq" ::"i"(~TRAP_FLAG) : "memory", "cc");
}

/* The thread writes mark, and a tick comes at the given instruction. False: it had written before.
 */
static bool write_with_a_tick_at(struct pair *pair, uint64_t at, uint64_t mark)
{
    steps = (struct steps){ .pair = pair, .at = at };
    set_trap_flag(true);
    assert_true(put_marks(pair, mark));
    set_trap_flag(false);
    return steps.taken > at;
}

/* Which of the two comes first is a matter of the instruction. */
static void assert_whole_records(struct pair *pair, uint64_t mark)
{
    uint64_t first = read_marks(pair), second = read_marks(pair);

    if (steps.tick_kept) {
        assert_true((first == 1000 && second == mark) || (first == mark && second == 1000));
        assert_int_equal(read_marks(pair), 0);
    } else {
        assert_int_equal(first, mark);
        assert_int_equal(second, 0);
    }
}

/* Some ticks are refused, and none tears anything. */
static void a_tick_may_come_at_each_instruction_of_a_write(void **state)
{
    struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, before;
    uint64_t at = 0, refused = 0;

    assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
    while (write_with_a_tick_at(*state, at, at + 1)) {
        refused += !steps.tick_kept;
        assert_whole_records(*state, at + 1);
        at++;
    }
    sigaction(SIGTRAP, &before, NULL);
    assert_in_range(refused, 10, at - 10);
}
#endif

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, make_pair, free_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(records_come_out_in_the_order_they_went_in),
        RING_TEST(a_reserved_record_is_not_seen_before_it_is_committed),
        RING_TEST(a_full_ring_refuses_the_newest),
        RING_TEST(records_never_wrap_inside),
        RING_TEST(a_ring_that_is_read_in_time_stays_in_its_first_pages),
        RING_TEST(a_record_may_turn_out_smaller_than_reserved),
        RING_TEST(a_write_in_the_middle_of_another_is_refused),
        RING_TEST(after_a_write_that_came_to_nothing_the_next_is_taken),
        RING_TEST(a_write_that_never_ends_is_given_up),
#if defined(__x86_64__)
        RING_TEST(a_tick_may_come_at_each_instruction_of_a_write),
#endif
        RING_TEST(nonsense_is_refused_and_can_be_skipped),
        RING_TEST(a_head_that_could_not_be_true_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

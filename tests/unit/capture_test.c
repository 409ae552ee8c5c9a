/* Records that a thread's own code writes into its ring. */
#include "sampler/capture/capture.h"

#include "sampler/capture/sampler_state.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

enum { PERIOD_US = 1000000, TYPE = 4711 };

static const struct stack_range unknown;

/* A sampler of this process whose clock does not tick. */
static int set_up(void **state)
{
    int memfd;

    (void)state;
    signal(SIGURG, SIG_IGN);
    sampler.threads = (struct threads){ .writer = &sampler.writer, .signal_number = SIGURG };
    sampler.threads.rights.wish = FEED_TIMER_WISH_CPU;
    if (feed_writer_create(&sampler.writer, &memfd, getpid(), 0) < 0 ||
        threads_new(&sampler.threads) < 0)
        return -1;
    close(memfd);
    sampler.pid = getpid();
    atomic_store(&sampler.running, RUN_ON);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&sampler.running, RUN_STOPPED);
    threads_stop(&sampler.threads);
    feed_writer_destroy(&sampler.writer);
    return 0;
}

static bool put(void)
{
    struct feed_timed record = { .head = { .size_bytes = sizeof record, .type = TYPE } };
    bool kept = capture_record(&record);

    assert_int_equal(atomic_load(&sampler.handlers), 0);
    if (kept)
        assert_true(record.timestamp_us > 0);
    return kept;
}

static uint64_t lost(enum feed_loss loss)
{
    return atomic_load(&sampler.writer.header->status.lost[loss]);
}

static void a_record_goes_into_the_threads_ring(void **state)
{
    uint32_t slot = threads_take(&sampler.threads, gettid(), &unknown, false);
    const struct feed_record *first;

    (void)state;
    assert_true(put());
    first = (const struct feed_record *)part_at(&sampler.writer.rings,
                                                (uint64_t)slot * FEED_RING_BYTES);
    assert_int_equal(first->type, TYPE);
    assert_int_equal(first->size_bytes, sizeof(struct feed_timed));
}

static void records_that_have_no_room_are_counted(void **state)
{
    uint64_t kept = 0;

    (void)state;
    threads_take(&sampler.threads, gettid(), &unknown, false);
    while (put())
        kept++;
    assert_in_range(kept, FEED_RING_BYTES / sizeof(struct feed_timed) / 2,
                    FEED_RING_BYTES / sizeof(struct feed_timed));
    assert_int_equal(lost(FEED_LOSS_RING_FULL), 1);
}

/* A signal handler of the program's in the middle of a tick's write, or the other way round. */
static void who_comes_in_the_middle_of_a_write_is_refused_and_counted(void **state)
{
    uint32_t slot = threads_take(&sampler.threads, gettid(), &unknown, false);
    struct capture capture;

    (void)state;
    assert_true(capture_begin(&capture, FEED_KIND_CPU, slot));
    assert_false(put());
    assert_int_equal(lost(FEED_LOSS_BUSY), 1);
    capture_cancel(&capture);
    assert_true(put());
}

/* It is the tick that asks for it. */
static void a_tick_before_the_first_map_is_counted_as_without_tables(void **state)
{
    uint32_t slot = threads_take(&sampler.threads, gettid(), &unknown, false);
    const struct sample_weight weight = { .cpu_ns = 1 };
    struct capture_registers registers = { .roomy = true };
    ucontext_t context;
    struct capture sample;

    (void)state;
    assert_int_equal(getcontext(&context), 0);
    registers.context = &context;
    assert_true(capture_begin(&sample, FEED_KIND_CPU, slot));
    assert_false(capture(&sample, &weight, &registers));
    assert_int_equal(lost(FEED_LOSS_NO_TABLES), 1);
    assert_int_equal(lost(FEED_LOSS_BUSY), 0);
}

static void a_thread_that_is_not_sampled_writes_nothing(void **state)
{
    (void)state;
    assert_false(put());
    threads_take(&sampler.threads, gettid(), &unknown, false);
    atomic_store(&sampler.running, RUN_STOPPED);
    assert_false(put());
}

int main(void)
{
#define CAPTURE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CAPTURE_TEST(a_record_goes_into_the_threads_ring),
        CAPTURE_TEST(records_that_have_no_room_are_counted),
        CAPTURE_TEST(who_comes_in_the_middle_of_a_write_is_refused_and_counted),
        CAPTURE_TEST(a_tick_before_the_first_map_is_counted_as_without_tables),
        CAPTURE_TEST(a_thread_that_is_not_sampled_writes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

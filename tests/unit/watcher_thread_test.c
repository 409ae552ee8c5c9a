/*
 * The watcher's own thread, beside others that ask it, and programs that come and go. Each dispatch lasts until what it
 * is to show has been seen.
 */
#include "fake_feed.h"

#include "sampler/feed/feed_loops.h"
#include "sampler/profile/loops/watcher.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { DEADLINE_S = 60, STALLS = 3, FIRST = 77, SECOND = 78 };

struct watch {
    struct fake_feed feed;
    struct feed_reader *reader;
    struct watcher *watcher;
    struct loop_subject *subject;
    struct feed_loop *loop;
    _Atomic uint32_t reached, ended;
    _Atomic bool over;
    pthread_t other;
};

/* The other program's dispatch may be late, too, on a busy machine. */
static struct watch *of_first(void *context, const struct late_dispatch *late)
{
    return late->process_id == FIRST ? context : NULL;
}

static void reached(void *context, const struct late_dispatch *late, enum stall_level level)
{
    struct watch *watch = of_first(context, late);

    if (watch && level == STALL_LEVEL_STALL)
        atomic_fetch_add(&watch->reached, 1);
}

static void ended(void *context, const struct late_dispatch *late)
{
    struct watch *watch = of_first(context, late);

    if (watch)
        atomic_fetch_add(&watch->ended, 1);
}

static void heard(void *context, const struct late_dispatch *late)
{
    (void)context;
    (void)late;
}

static void cpu_high(void *context, const struct cpu_high *high)
{
    (void)context;
    (void)high;
}

static void rest(void)
{
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

/* False: not in time. */
static bool await(_Atomic uint32_t *count, uint32_t wanted)
{
    time_t end = time(NULL) + DEADLINE_S;

    while (atomic_load(count) != wanted && time(NULL) < end)
        rest();
    return atomic_load(count) == wanted;
}

/* A program that comes and goes, and somebody who asks and changes settings. */
static void *bother(void *argument)
{
    const struct feed_loop_start start = { .tid = 7, .kind = FEED_LOOP_POLL };
    struct watch *watch = argument;
    struct stall_settings settings = { .names = "" };
    struct loop_info infos[8];

    while (!atomic_load(&watch->over)) {
        CLEANUP(fake_feed_close) struct fake_feed feed;
        struct loop_subject *subject;
        struct feed_reader *reader;
        struct feed_loop *loop;

        fake_feed_open(&feed, getpid());
        if (feed_reader_open(&reader, fake_feed_memfd(&feed)) < 0)
            abort();
        subject = watcher_enter(watch->watcher, reader, SECOND, getpid(), NULL);
        loop = feed_loops_begin(&feed.writer, &start);
        watcher_round(subject);
        atomic_fetch_add(&loop->mark, 1);
        watcher_loops(watch->watcher, 0, infos, 8);
        settings.limits_ms[STALL_LEVEL_JANK] = 40 + settings.limits_ms[STALL_LEVEL_JANK] % 5;
        watcher_apply(watch->watcher, &settings);
        rest();
        watcher_pause(subject);
        watcher_leave(subject);
        feed_reader_free(reader);
    }
    return NULL;
}

static void begin(struct watch *watch)
{
    const struct loop_reports reports = { watch, heard, reached, heard, ended, heard, cpu_high };
    const struct feed_loop_start start = { .tid = 7, .kind = FEED_LOOP_EPOLL };

    memset(watch, 0, sizeof(*watch));
    fake_feed_open(&watch->feed, getpid());
    if (feed_reader_open(&watch->reader, fake_feed_memfd(&watch->feed)) < 0 ||
        watcher_new(&watch->watcher, &(struct watcher_options){ .reports = &reports }) < 0 ||
        watcher_start(watch->watcher) < 0)
        abort();
    watch->subject = watcher_enter(watch->watcher, watch->reader, FIRST, getpid(), NULL);
    watch->loop = feed_loops_begin(&watch->feed.writer, &start);
}

static void end(struct watch *watch)
{
    watcher_leave(watch->subject);
    watcher_free(watch->watcher);
    feed_reader_free(watch->reader);
    fake_feed_close(&watch->feed);
}

static void begin_dispatch(struct watch *watch)
{
    struct feed_control *control = &watch->feed.writer.header->control;
    struct timespec now;

    atomic_fetch_add(&watch->loop->mark, 1);
    if (atomic_exchange(&control->loops_rest, 0) != 1)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&control->loops_woken_ns, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    watcher_wake(watch->watcher);
}

static void stalls_are_found_while_programs_come_and_go(void **state)
{
    struct watch watch;

    (void)state;
    begin(&watch);
    assert_int_equal(pthread_create(&watch.other, NULL, bother, &watch), 0);
    for (uint32_t i = 1; i <= STALLS; i++) {
        begin_dispatch(&watch);
        assert_true(await(&watch.reached, i));
        atomic_fetch_add(&watch.loop->mark, 1);
        assert_true(await(&watch.ended, i));
    }
    atomic_store(&watch.over, true);
    pthread_join(watch.other, NULL);
    end(&watch);
}

static void one_that_begins_after_a_rest_is_found(void **state)
{
    struct watch watch;

    (void)state;
    begin(&watch);
    for (uint32_t i = 1; i <= STALLS; i++) {
        assert_true(await(&watch.feed.writer.header->control.loops_rest, 1));
        begin_dispatch(&watch);
        assert_true(await(&watch.reached, i));
        atomic_fetch_add(&watch.loop->mark, 1);
        assert_true(await(&watch.ended, i));
    }
    end(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls_are_found_while_programs_come_and_go),
        cmocka_unit_test(one_that_begins_after_a_rest_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "sampler/profile/intake/collector.h"

#include "fake_feed.h"
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/feed/chance.h"
#include "sampler/profile/events/streams.h"
#include "sampler/profile/outside/thread_names.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { ROUND_US = 100000 };

/* A collector whose rounds the test runs, at times the test chooses. */
struct fixture {
    struct stores stores;
    struct event_store *events;
    struct streams *streams;
    struct registry *registry;
    struct symbolizer *symbolizer;
    struct processes *processes;
    struct collector *collector;
    int changes;
};

static void count_change(void *context)
{
    ((struct fixture *)context)->changes++;
}

static int open_fixture(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct collector_options options;

    stores_new(&fixture->stores, 0);
    event_store_new(&fixture->events, 0);
    streams_new(&fixture->streams);
    registry_new(&fixture->registry);
    symbolizer_new(&fixture->symbolizer, &(struct symbolizer_options){ 0 });
    processes_new(&fixture->processes, &fixture->stores, fixture->events,
                  &(struct feed_settings){ .enabled = true, .period_us = 1000, .depth_max = 128 });
    options = (struct collector_options){ .processes = fixture->processes,
                                          .stores = &fixture->stores,
                                          .events = fixture->events,
                                          .streams = fixture->streams,
                                          .registry = fixture->registry,
                                          .symbolizer = fixture->symbolizer,
                                          .changed = count_change,
                                          .context = fixture };
    *state = fixture;
    return collector_new(&fixture->collector, &options);
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;

    collector_free(fixture->collector);
    processes_free(fixture->processes);
    symbolizer_free(fixture->symbolizer);
    registry_free(fixture->registry);
    stores_free(&fixture->stores);
    event_store_free(fixture->events);
    streams_free(fixture->streams);
    free(fixture);
    return 0;
}

static uint64_t attach(struct fixture *fixture, const struct fake_feed *feed, int32_t pid)
{
    struct profile_peer peer = {
        .pid = pid, .clock = -1, .faults = -1, .ppid = 1, .exe = "/usr/bin/program"
    };
    uint64_t id = 0;

    assert_int_equal(collector_attach(fixture->collector, fake_feed_memfd(feed), &peer, &id), 0);
    return id;
}

/* A feed of a process that is awaited, as the program that was started is. */
static uint64_t attach_awaited(struct fixture *fixture, struct fake_feed *feed, int32_t pid)
{
    fake_feed_open(feed, pid);
    processes_await_exit(fixture->processes, pid);
    return attach(fixture, feed, pid);
}

enum { STATUS_3 = 3 << 8 };

static void exits(struct fixture *fixture, int32_t pid, int wait_status)
{
    collector_exited(fixture->collector,
                     &(struct profile_exit){ .pid = pid, .wait_status = wait_status });
}

/* The feed of this process, with one thread. */
static uint32_t attach_thread(struct fixture *fixture, struct fake_feed *feed, const char *name)
{
    uint32_t slot;

    fake_feed_open(feed, getpid());
    slot = fake_feed_thread(feed, 1, name);
    attach(fixture, feed, getpid());
    return slot;
}

static struct process_info info_of(struct fixture *fixture, uint64_t id)
{
    struct process_info info;

    assert_true(processes_find(fixture->processes, id, &info));
    return info;
}

static int32_t dead_pid(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

/* The first chunk of a kind; the caller frees with store_views_free(views, 1). */
static struct store_view *first_view_of(struct fixture *fixture, enum sample_kind kind)
{
    struct store_view *views;
    uint32_t count;

    assert_int_equal(store_views(fixture->stores.of[kind], &STORE_ASK_ALL, &views, &count, NULL),
                     0);
    assert_int_equal(count, 1);
    return views;
}

static struct store_view *first_view(struct fixture *fixture)
{
    return first_view_of(fixture, SAMPLES_OF_TIME);
}

static void samples_of_all_threads_are_stored_in_the_order_of_time(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t first, second;

    fake_feed_open(&feed, getpid());
    first = fake_feed_thread(&feed, 1, "first");
    second = fake_feed_thread(&feed, 2, "second");
    attach(fixture, &feed, getpid());
    for (int64_t i = 0; i < 10; i++)
        FAKE_SAMPLE(&feed, first, 1000 + 10 * i, 0x10);
    for (int64_t i = 0; i < 10; i++)
        FAKE_SAMPLE(&feed, second, 1005 + 10 * i, 0x10);
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 20);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(chunk_sample_us(view->chunk, i), 1000 + 5 * i);
    store_views_free(view, 1);
}

static void a_sample_later_than_the_round_waits_for_the_next(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot;
    uint64_t id;

    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    id = attach(fixture, &feed, getpid());
    FAKE_SAMPLE(&feed, slot, ROUND_US, 0x10);
    FAKE_SAMPLE(&feed, slot, ROUND_US + 1, 0x10);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(info_of(fixture, id).samples, 1);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(info_of(fixture, id).samples, 1);
    collector_round(fixture->collector, ROUND_US + 1);
    assert_int_equal(info_of(fixture, id).samples, 2);
}

/* It is told once where a thread sleeps, and then only that it still does. */
static void a_sleeping_threads_stack_stands_for_all_that_follow(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "sleeper");
    fake_feed_asleep(&feed, slot, 900, FEED_STATE_LOCK, 0, true); /* nobody knows yet where */
    fake_feed_asleep(&feed, slot, 1000, FEED_STATE_LOCK, 0x10, false);
    fake_feed_asleep(&feed, slot, 2000, FEED_STATE_LOCK, 0, true);
    collector_round(fixture->collector, ROUND_US);
    fake_feed_asleep(&feed, slot, 3000, FEED_STATE_RUNNING, 0, true);
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(chunk_sample_us(view->chunk, i), 1000 * (i + 1));
        assert_int_equal(view->chunk->samples[i].leaf, view->chunk->samples[0].leaf);
        assert_int_equal(view->chunk->samples[i].state,
                         i < 2 ? FEED_STATE_LOCK : FEED_STATE_RUNNING);
    }
    store_views_free(view, 1);
}

/* A thread may be in wall mode's rounds, and be looked at because its loop is late. */
static void looks_at_a_late_loop_have_a_store_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "loop");
    fake_feed_asleep(&feed, slot, 1000, FEED_STATE_LOCK, 0x10, false);
    fake_feed_look(&feed, slot, 1500, FEED_STATE_IO, 0x20);
    fake_feed_asleep(&feed, slot, 2000, FEED_STATE_LOCK, 0, true); /* at 0x10 */
    fake_feed_look(&feed, slot, 2500, FEED_STATE_IO, 0x20);
    FAKE_SAMPLE(&feed, slot, 3000, 0x30);
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 3);
    assert_int_equal(view->chunk->samples[1].leaf, view->chunk->samples[0].leaf);
    assert_int_equal(view->chunk->samples[1].state, FEED_STATE_LOCK);
    store_views_free(view, 1);
    view = first_view_of(fixture, SAMPLES_OF_STALLS);
    assert_int_equal(view->sample_count, 2);
    assert_int_equal(chunk_sample_us(view->chunk, 1), 2500);
    assert_int_equal(view->chunk->samples[1].state, FEED_STATE_IO);
    assert_string_equal(view->sources[0].name, "loop");
    store_views_free(view, 1);
    assert_int_equal(info_of(fixture, (uint64_t)getpid()).samples, 3);
}

static void what_is_told_of_a_thread_that_ended_is_not_its_successors(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "first");
    fake_feed_asleep(&feed, slot, 1000, FEED_STATE_SLEEP, 0x10, false);
    feed_writer_thread_end(&feed.writer, slot);
    atomic_fetch_add(&feed.writer.threads[slot].generation, 1);
    feed_writer_thread_publish(&feed.writer, slot);
    fake_feed_asleep(&feed, slot, 2000, FEED_STATE_SLEEP, 0, true);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(processes_any_live(fixture->processes), true);
    assert_int_equal(info_of(fixture, (uint64_t)getpid()).samples, 0);
    assert_int_equal(info_of(fixture, (uint64_t)getpid()).unstored, 2);
}

static void a_sample_may_stand_for_rounds_that_its_thread_missed(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct feed_sample *sample;
    struct ring_writer ring;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "busy");
    feed_writer_ring(&feed.writer, slot, &ring);
    sample = ring_reserve(&ring, sizeof *sample + 8);
    *sample = (struct feed_sample){ .head = { sizeof *sample + 8, FEED_RECORD_SAMPLE, 0 },
                                    .timestamp_us = 1000,
                                    .depth = 1,
                                    .more_running = 2,
                                    .more_runnable = 3 };
    sample->frames[0] = 0x10;
    ring_commit(&ring);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(info_of(fixture, (uint64_t)getpid()).samples, 6);
}

static void who_has_the_lock_has_it_in_the_rounds_that_the_sample_stands_for(void **state)
{
    static const uint8_t expected[] = { FEED_STATE_GIL_HELD, FEED_STATE_GIL_HELD,
                                        FEED_STATE_GIL_HELD, FEED_STATE_RUNNABLE };
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct feed_sample *sample;
    struct ring_writer ring;
    struct store_view *view;
    uint32_t seen[FEED_STATE_COUNT] = { 0 }, told[FEED_STATE_COUNT] = { 0 };
    uint32_t slot = attach_thread(fixture, &feed, "busy");

    feed_writer_ring(&feed.writer, slot, &ring);
    sample = ring_reserve(&ring, sizeof *sample + 8);
    *sample = (struct feed_sample){ .head = { sizeof *sample + 8, FEED_RECORD_SAMPLE, 0 },
                                    .timestamp_us = 1000,
                                    .state = FEED_STATE_GIL_HELD,
                                    .depth = 1,
                                    .more_running = 2,
                                    .more_runnable = 1 };
    sample->frames[0] = 0x10;
    ring_commit(&ring);
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        seen[view->chunk->samples[i].state]++;
        told[expected[i]]++;
    }
    assert_memory_equal(seen, told, sizeof seen);
    store_views_free(view, 1);
}

static void samples_with_impossible_times_are_corrupt(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot;
    uint64_t id;

    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, 1, "main");
    id = attach(fixture, &feed, getpid());
    FAKE_SAMPLE(&feed, slot, INT64_MIN, 0x10);
    FAKE_SAMPLE(&feed, slot, -1, 0x10);
    FAKE_SAMPLE(&feed, slot, 5, 0x10);
    FAKE_SAMPLE(&feed, slot, INT64_MAX, 0x10);
    fake_feed_stop(&feed);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(info_of(fixture, id).samples, 1);
    assert_int_equal(info_of(fixture, id).corrupt, 3);
}

/* Two processes number the same file differently; it is one module of the profile. */
static void frames_get_the_profiles_module_numbers(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed one, two;
    uint32_t slot, number;
    struct store_view *view;

    fake_feed_open(&one, getpid());
    fake_feed_open(&two, getppid());
    fake_feed_module(&two, "/lib/other.so");
    attach(fixture, &one, getpid());
    attach(fixture, &two, getppid());
    slot = fake_feed_thread(&one, 1, "main");
    number = fake_feed_module(&one, "/lib/shared.so");
    FAKE_SAMPLE(&one, slot, 1, FEED_FRAME(number, 0x10));
    slot = fake_feed_thread(&two, 2, "main");
    number = fake_feed_module(&two, "/lib/shared.so");
    FAKE_SAMPLE(&two, slot, 2, FEED_FRAME(number, 0x10));
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 2);
    assert_int_equal(view->chunk->samples[0].leaf, view->chunk->samples[1].leaf);
    number = FRAME_KEY_MODULE(view->chunk->frames[view->chunk->samples[0].leaf]);
    assert_string_equal(registry_module(fixture->registry, number)->path, "/lib/shared.so");
    store_views_free(view, 1);
}

static void frames_of_unknown_modules_are_code_in_no_module(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "main");
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(65534, 0x10));
    FAKE_SAMPLE(&feed, slot, 2, FEED_FRAME(77, 0x10));
    FAKE_SAMPLE(&feed, slot, 3, FEED_FRAME(0, 0x10));
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(view->chunk->frames[view->chunk->samples[i].leaf] == FRAME_KEY(0, 0x10));
    store_views_free(view, 1);
}

/* The frames around a thread's start that are ours are not the program's. */
static void frames_of_the_sampler_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint32_t slot, sampler, program;
    struct store_view *view;

    slot = attach_thread(fixture, &feed, "main");
    sampler = fake_feed_module(&feed, "/opt/lib/libisoscope.so");
    program = fake_feed_module(&feed, "/opt/program");
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(program, 1), FEED_FRAME(sampler, 2),
                FEED_FRAME(program, 3));
    FAKE_SAMPLE(&feed, slot, 2, FEED_FRAME(sampler, 1), FEED_FRAME(sampler, 2));
    fake_feed_write(&feed, slot, &(struct fake_sample){ .timestamp_us = 3 });
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 1);
    assert_int_equal(view->frame_count, 1 + 2);
    assert_int_equal(view->chunk->nodes[view->chunk->samples[0].caller].parent, 0);
    store_views_free(view, 1);
}

static void a_renamed_thread_has_its_new_name(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "before");
    FAKE_SAMPLE(&feed, slot, 1, 0x10);
    collector_round(fixture->collector, ROUND_US);
    fake_feed_rename(&feed, slot, "after");
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_string_equal(view->sources[0].name, "after");
    store_views_free(view, 1);
}

static void a_thread_with_a_sample_and_no_name_has_the_kernels(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    char name[16];
    uint32_t slot;

    assert_true(thread_name_read(getpid(), getpid(), name));
    fake_feed_open(&feed, getpid());
    slot = fake_feed_thread(&feed, getpid(), "");
    attach(fixture, &feed, getpid());
    FAKE_SAMPLE(&feed, slot, 1000, 0x10);
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    assert_string_equal(view->sources[0].name, name);
    store_views_free(view, 1);
}

static void an_ended_threads_slot_goes_to_another_without_mixing_them(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t slot;

    slot = attach_thread(fixture, &feed, "old");
    FAKE_SAMPLE(&feed, slot, 1, 0x10);
    collector_round(fixture->collector, ROUND_US);
    FAKE_SAMPLE(&feed, slot, ROUND_US + 5, 0x10); /* later than the next round */
    feed_writer_thread_end(&feed.writer, slot);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(atomic_load(&feed.writer.threads[slot].state), FEED_THREAD_ENDED);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(atomic_load(&feed.writer.threads[slot].state), FEED_THREAD_FREE);
    assert_int_equal(fake_feed_thread(&feed, 2, "new"), slot);
    FAKE_SAMPLE(&feed, slot, ROUND_US + 10, 0x10);
    collector_round(fixture->collector, 2 * ROUND_US);
    view = first_view(fixture);
    assert_int_equal(view->sample_count, 3);
    assert_int_equal(view->sources[view->chunk->samples[1].source].tid, 1);
    assert_int_equal(view->sources[view->chunk->samples[2].source].tid, 2);
    assert_string_equal(view->sources[view->chunk->samples[2].source].name, "new");
    store_views_free(view, 1);
}

static void a_dead_process_is_drained_to_its_end(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    int32_t pid = dead_pid();
    struct process_info info;
    uint32_t slot;
    uint64_t id;

    fake_feed_open(&feed, pid);
    slot = fake_feed_thread(&feed, pid, "main");
    for (int64_t i = 0; i < 100; i++)
        FAKE_SAMPLE(&feed, slot, ROUND_US + i, 0x10);
    id = attach(fixture, &feed, pid);
    assert_int_equal(id, pid);
    assert_true(info_of(fixture, id).live);
    fixture->changes = 0;
    collector_round(fixture->collector, ROUND_US);
    info = info_of(fixture, id);
    assert_false(info.live);
    assert_int_equal(info.end_us, ROUND_US);
    assert_int_equal(info.samples, 100);
    assert_string_equal(info.name, "program");
    assert_string_equal(info.exe, "/usr/bin/program");
    assert_int_equal(fixture->changes, 1);
    collector_round(fixture->collector, 2 * ROUND_US);
    assert_int_equal(info_of(fixture, id).end_us, ROUND_US);
}

static void one_that_stops_its_sampler_has_ended_and_lives_on(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t id;

    fake_feed_open(&feed, getpid());
    id = attach(fixture, &feed, getpid());
    fake_feed_stop(&feed);
    collector_round(fixture->collector, ROUND_US);
    assert_false(info_of(fixture, id).live);
}

enum { PROOF_US = 200000 }; /* it is looked for more often */

/* What stood in the memory of the program that said hello does not stand there any more. */
static void one_that_has_become_another_program_by_exec_has_ended(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t id;

    fake_feed_open(&feed, getpid());
    id = attach(fixture, &feed, getpid());
    collector_round(fixture->collector, PROOF_US);
    assert_true(info_of(fixture, id).live);
    feed.writer.header->head.start_us++;
    collector_round(fixture->collector, 2 * PROOF_US);
    assert_false(info_of(fixture, id).live);
}

/* How it exits is told of the program that it became: nothing of this one is waited for. */
static void the_started_program_has_ended_as_soon_as_it_is_another(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t id;

    id = attach_awaited(fixture, &feed, getpid());
    feed.writer.header->head.start_us++;
    collector_round(fixture->collector, PROOF_US);
    assert_false(info_of(fixture, id).live);
}

/* Ticks are proof enough, where memory may not be looked at. */
static void one_that_ticks_is_the_program_that_it_was(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t id;

    fake_feed_open(&feed, getpid());
    id = attach(fixture, &feed, getpid());
    collector_round(fixture->collector, PROOF_US);
    feed.writer.header->head.start_us++;
    for (int round = 2; round < 5; round++) {
        feed.writer.header->status.ticks++;
        collector_round(fixture->collector, round * PROOF_US);
        assert_true(info_of(fixture, id).live);
    }
    collector_round(fixture->collector, 5 * PROOF_US);
    assert_false(info_of(fixture, id).live);
}

static void an_awaited_end_is_shown_when_it_is_known_how(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    int32_t pid = dead_pid();
    struct process_info info;
    uint64_t id;

    id = attach_awaited(fixture, &feed, pid);
    collector_round(fixture->collector, ROUND_US);
    collector_round(fixture->collector, 2 * ROUND_US);
    assert_true(info_of(fixture, id).live);
    fixture->changes = 0;
    exits(fixture, pid, STATUS_3);
    assert_int_equal(fixture->changes, 1);
    assert_false(info_of(fixture, id).exit_known);
    collector_round(fixture->collector, 3 * ROUND_US);
    info = info_of(fixture, id);
    assert_false(info.live);
    assert_int_equal(info.end_us, ROUND_US);
    assert_true(info.exit_known);
    assert_int_equal(info.wait_status, STATUS_3);
}

static void it_may_be_known_how_before_the_end_is_seen(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    int32_t pid = dead_pid();
    uint64_t id;

    id = attach_awaited(fixture, &feed, pid);
    exits(fixture, pid, STATUS_3);
    assert_true(info_of(fixture, id).live);
    collector_round(fixture->collector, ROUND_US);
    assert_false(info_of(fixture, id).live);
    assert_int_equal(info_of(fixture, id).wait_status, STATUS_3);
}

/* One that stopped its sampler may run on for hours. */
static void an_awaited_end_waits_for_a_second_only_and_how_is_shown_later(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t id;

    id = attach_awaited(fixture, &feed, getpid());
    fake_feed_stop(&feed);
    collector_round(fixture->collector, ROUND_US);
    collector_round(fixture->collector, ROUND_US + 999999);
    assert_true(info_of(fixture, id).live);
    fixture->changes = 0;
    collector_round(fixture->collector, ROUND_US + 1000000);
    assert_int_equal(fixture->changes, 1);
    assert_false(info_of(fixture, id).live);
    assert_false(info_of(fixture, id).exit_known);
    assert_int_equal(info_of(fixture, id).end_us, ROUND_US);
    exits(fixture, getpid(), SIGKILL);
    assert_int_equal(fixture->changes, 2);
    assert_true(info_of(fixture, id).exit_known);
    assert_int_equal(info_of(fixture, id).wait_status, SIGKILL);
}

static void the_end_of_who_is_not_awaited_is_shown_at_once(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    int32_t pid = dead_pid();
    uint64_t id;

    fake_feed_open(&feed, pid);
    processes_await_exit(fixture->processes, getpid());
    id = attach(fixture, &feed, pid);
    collector_round(fixture->collector, ROUND_US);
    assert_false(info_of(fixture, id).live);
    exits(fixture, getpid(), STATUS_3);
    assert_false(info_of(fixture, id).exit_known);
}

/* Who looks at each end once needs an order in which none comes late. */
static void ends_are_numbered_as_they_are_shown(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed awaited_feed, other_feed;
    int32_t pid = dead_pid();
    uint64_t awaited, other;

    fake_feed_open(&awaited_feed, getpid());
    fake_feed_open(&other_feed, pid);
    processes_await_exit(fixture->processes, getpid());
    awaited = attach(fixture, &awaited_feed, getpid());
    fake_feed_stop(&awaited_feed);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(info_of(fixture, awaited).end_number, 0);
    other = attach(fixture, &other_feed, pid);
    collector_round(fixture->collector, 2 * ROUND_US);
    assert_int_equal(info_of(fixture, other).end_number, 1);
    exits(fixture, getpid(), STATUS_3);
    collector_round(fixture->collector, 3 * ROUND_US);
    assert_int_equal(info_of(fixture, awaited).end_number, 2);
    assert_true(info_of(fixture, awaited).end_us < info_of(fixture, other).end_us);
}

static void what_exec_ends_does_not_wait_and_the_last_program_has_the_status(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed before, after;
    struct process_info infos[4];
    uint32_t slot;

    fake_feed_open(&before, getpid());
    fake_feed_open(&after, getpid());
    slot = fake_feed_thread(&before, 1, "main");
    processes_await_exit(fixture->processes, getpid());
    attach(fixture, &before, getpid());
    FAKE_SAMPLE(&before, slot, 1, 0x10);
    attach(fixture, &after, getpid());
    fake_feed_stop(&after);
    exits(fixture, getpid(), STATUS_3);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(processes_list(fixture->processes, infos, 4), 2);
    assert_false(infos[0].live || infos[0].exit_known);
    assert_false(infos[1].live);
    assert_true(infos[1].exit_known);
}

/* A shell that becomes the program it was to start: nobody misses the shell. */
static void a_program_after_exec_replaces_one_that_left_no_sample(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed shell, program;
    struct process_info infos[4];

    fake_feed_open(&shell, getpid());
    fake_feed_open(&program, getpid());
    assert_int_equal(attach(fixture, &shell, getpid()), getpid());
    assert_int_equal(attach(fixture, &program, getpid()), getpid());
    assert_int_equal(processes_list(fixture->processes, infos, 4), 1);
    assert_true(infos[0].live);
}

static void a_program_after_exec_stands_beside_one_that_left_samples(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed before, after;
    struct process_info infos[4];
    uint32_t slot;

    fake_feed_open(&before, getpid());
    fake_feed_open(&after, getpid());
    slot = fake_feed_thread(&before, 1, "main");
    attach(fixture, &before, getpid());
    FAKE_SAMPLE(&before, slot, 1, 0x10);
    assert_int_equal(attach(fixture, &after, getpid()), getpid() + 10000000);
    assert_int_equal(processes_list(fixture->processes, infos, 4), 2);
    assert_false(infos[0].live);
    assert_int_equal(infos[0].samples, 1);
    assert_true(infos[1].live);
    assert_int_equal(infos[1].pid, getpid());
}

static void cpu_is(struct fake_feed *feed, uint64_t cpu_ns, uint64_t sampled_ns)
{
    atomic_store(&feed->writer.header->status.cpu_ns, cpu_ns);
    atomic_store(&feed->writer.header->status.sampled_ns, sampled_ns);
}

/* Both count on one clock of the kernel, which exec does not set back. */
static void a_program_after_exec_has_not_left_out_what_the_one_before_it_used(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed before, after;
    struct profile_cpu cpu;
    struct process_info info;

    fake_feed_open(&before, getpid());
    fake_feed_open(&after, getpid());
    FAKE_SAMPLE(&before, fake_feed_thread(&before, 1, "main"), 1, 0x10);
    attach(fixture, &before, getpid());
    cpu_is(&before, 900, 1000);
    info.id = attach(fixture, &after, getpid());
    cpu_is(&after, 1500, 300);
    collector_round(fixture->collector, ROUND_US);
    info = info_of(fixture, info.id);
    assert_int_equal(feed_not_sampled_ns(&info.status), 200);
    cpu = processes_cpu(fixture->processes);
    assert_int_equal(cpu.processes, 1);
    assert_int_equal(cpu.sampled_ns, 1300);
    assert_int_equal(cpu.not_sampled_ns, 200);
}

static void the_cpu_time_of_the_forgotten_is_remembered(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct profile_cpu cpu;

    fake_feed_open(&feed, 1);
    cpu_is(&feed, 10, 0);
    for (int32_t i = 0; i < 1500; i++)
        attach(fixture, &feed, 5000000 + i);
    collector_round(fixture->collector, ROUND_US);
    for (int32_t i = 1500; i < 2000; i++)
        attach(fixture, &feed, 5000000 + i);
    assert_true(processes_list(fixture->processes, NULL, 0) < 2000);
    collector_exited(fixture->collector, &(struct profile_exit){ .pid = getpid(), .cpu_ns = 7 });
    cpu = processes_cpu(fixture->processes);
    assert_int_equal(cpu.processes, 2000);
    assert_int_equal(cpu.not_sampled_ns, 20000);
    assert_int_equal(cpu.tree_ns, 7);
}

static void thousands_of_short_programs_without_samples_are_forgotten(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;

    fake_feed_open(&feed, 1);
    for (int32_t i = 0; i < 3000; i++) {
        /* Above every pid there can be: dead from the start. */
        attach(fixture, &feed, 5000000 + i);
        if (i % 100 == 0)
            collector_round(fixture->collector, ROUND_US);
    }
    assert_in_range(processes_list(fixture->processes, NULL, 0), 1000, 1200);
}

static void what_is_no_feed_is_refused_and_its_descriptor_closed(void **state)
{
    struct fixture *fixture = *state;
    struct profile_peer peer = { .pid = getpid(), .clock = -1, .faults = -1, .exe = "/bin/x" };
    int fd = open("/dev/null", O_RDWR);

    assert_int_equal(collector_attach(fixture->collector, fd, &peer, NULL), -ISOSCOPE_BAD_FEED);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(processes_list(fixture->processes, NULL, 0), 0);
}

/* A program writes over its own feed while it crashes: all of it, with anything. */
static void a_scribbled_feed_is_survived_and_counted(void **state)
{
    struct fixture *fixture = *state;
    uint32_t seed = 1;

    for (int round = 0; round < 50; round++) {
        CLEANUP(fake_feed_close) struct fake_feed feed;
        uint64_t *words;
        uint32_t slot;
        uint64_t id;

        fake_feed_open(&feed, getpid());
        slot = fake_feed_thread(&feed, 1, "main");
        fake_feed_module(&feed, "/lib/x.so");
        id = attach(fixture, &feed, getpid());
        words = (uint64_t *)part_at(&feed.writer.rings, (uint64_t)slot * FEED_RING_BYTES);
        for (uint32_t i = 0; i < FEED_RING_BYTES / 8; i++) {
            chance_next(&seed);
            words[i] = seed % 3 ? (seed >> 8) % 512 : UINT64_MAX / (seed | 1);
        }
        atomic_store(&feed.writer.threads[slot].head, (seed >> 4) % (2 * FEED_RING_BYTES));
        memset(feed.writer.threads[slot].name, 'x', 16);
        memset(fake_feed_entry(&feed, 1), 0x5a, sizeof(struct feed_module));
        fake_feed_scribble_names(&feed, 'n');
        feed.writer.header->status.modules_used = UINT32_MAX;
        feed.writer.header->status.threads_used = UINT32_MAX;
        feed.writer.header->status.clock_reason = 12345;
        collector_round(fixture->collector, ROUND_US);
        fake_feed_stop(&feed);
        collector_round(fixture->collector, ROUND_US);
        assert_false(info_of(fixture, id).live);
        assert_int_equal(info_of(fixture, id).status.timer_reason, FEED_TIMER_REASON_NONE);
        processes_clear(fixture->processes, id);
    }
}

/* The path runs to the end of the names without a 0; the module is used all the same. */
static void an_unterminated_module_path_is_cut_at_the_names_end(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    struct store_view *view;
    uint32_t slot, module;

    slot = attach_thread(fixture, &feed, "main");
    module = fake_feed_module(&feed, "/lib/x.so");
    fake_feed_entry(&feed, module)->path_offset = FEED_NAMES_BYTES - 4;
    memcpy(feed.writer.names + FEED_NAMES_BYTES - 4, "/abc", 4);
    FAKE_SAMPLE(&feed, slot, 1, FEED_FRAME(module, 0x10));
    collector_round(fixture->collector, ROUND_US);
    view = first_view(fixture);
    module = FRAME_KEY_MODULE(view->chunk->frames[view->chunk->samples[0].leaf]);
    assert_string_equal(registry_module(fixture->registry, module)->path, "/abc");
    store_views_free(view, 1);
}

static void settings_reach_the_programs_there_and_those_to_come(void **state)
{
    const struct feed_settings settings = { false, 250, 64, FEED_MODE_WALL, "*", FEED_WANT_GIL,
                                            0,     0,   0 };
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed, later;
    struct feed_control *control;

    fake_feed_open(&feed, getpid());
    fake_feed_open(&later, getppid());
    control = &feed.writer.header->control;
    attach(fixture, &feed, getpid());
    assert_int_equal(atomic_load(&control->enabled), 1);
    assert_int_equal(atomic_load(&control->period_us), 1000);
    processes_apply(fixture->processes, &settings);
    assert_int_equal(atomic_load(&control->enabled), 0);
    assert_int_equal(atomic_load(&control->period_us), 250);
    assert_int_equal(atomic_load(&control->depth_max), 64);
    assert_int_equal(atomic_load(&control->mode), FEED_MODE_WALL);
    attach(fixture, &later, getppid());
    assert_int_equal(atomic_load(&later.writer.header->control.period_us), 250);
    assert_int_equal(atomic_load(&later.writer.header->control.depth_max), 64);
    assert_int_equal(atomic_load(&later.writer.header->control.mode), FEED_MODE_WALL);
    collector_round(fixture->collector, 12345);
    assert_int_equal(atomic_load(&control->reader_us), 12345);
}

static void growing_losses_are_told_once(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t id;

    fake_feed_open(&feed, getpid());
    id = attach(fixture, &feed, getpid());
    collector_round(fixture->collector, ROUND_US);
    fixture->changes = 0;
    atomic_store(&feed.writer.header->status.lost[FEED_LOSS_RING_FULL], 3);
    collector_round(fixture->collector, ROUND_US);
    collector_round(fixture->collector, ROUND_US);
    assert_int_equal(fixture->changes, 1);
    assert_int_equal(info_of(fixture, id).status.lost[FEED_LOSS_RING_FULL], 3);
}

static bool has_grown(struct fixture *fixture, uint64_t *version)
{
    uint64_t before = *version;

    *version = processes_version(fixture->processes);
    assert_true(*version >= before);
    return *version > before;
}

static void the_version_grows_with_what_is_shown_and_else_stands(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(fake_feed_close) struct fake_feed feed;
    uint64_t version = 0, id;
    uint32_t thread;

    assert_true(has_grown(fixture, &version)); /* it is never 0 */
    fake_feed_open(&feed, getpid());
    thread = fake_feed_thread(&feed, 1, "first");
    id = attach(fixture, &feed, getpid());
    assert_true(has_grown(fixture, &version));
    collector_round(fixture->collector, ROUND_US);
    has_grown(fixture, &version);
    collector_round(fixture->collector, ROUND_US);
    assert_false(has_grown(fixture, &version));
    FAKE_SAMPLE(&feed, thread, 1000, 0x10);
    collector_round(fixture->collector, ROUND_US);
    assert_true(has_grown(fixture, &version));
    atomic_store(&feed.writer.header->status.lost[FEED_LOSS_RING_FULL], 3);
    collector_round(fixture->collector, ROUND_US);
    assert_true(has_grown(fixture, &version));
    processes_clear(fixture->processes, id);
    assert_true(has_grown(fixture, &version));
    processes_await_exit(fixture->processes, getpid());
    assert_true(has_grown(fixture, &version));
    processes_exited(fixture->processes, &(struct profile_exit){ .pid = getpid() });
    assert_true(has_grown(fixture, &version));
    assert_false(has_grown(fixture, &version));
}

int main(void)
{
#define COLLECTOR_TEST(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        COLLECTOR_TEST(samples_of_all_threads_are_stored_in_the_order_of_time),
        COLLECTOR_TEST(a_sample_later_than_the_round_waits_for_the_next),
        COLLECTOR_TEST(a_sleeping_threads_stack_stands_for_all_that_follow),
        COLLECTOR_TEST(looks_at_a_late_loop_have_a_store_of_their_own),
        COLLECTOR_TEST(what_is_told_of_a_thread_that_ended_is_not_its_successors),
        COLLECTOR_TEST(a_sample_may_stand_for_rounds_that_its_thread_missed),
        COLLECTOR_TEST(who_has_the_lock_has_it_in_the_rounds_that_the_sample_stands_for),
        COLLECTOR_TEST(samples_with_impossible_times_are_corrupt),
        COLLECTOR_TEST(frames_get_the_profiles_module_numbers),
        COLLECTOR_TEST(frames_of_unknown_modules_are_code_in_no_module),
        COLLECTOR_TEST(frames_of_the_sampler_are_left_out),
        COLLECTOR_TEST(a_renamed_thread_has_its_new_name),
        COLLECTOR_TEST(a_thread_with_a_sample_and_no_name_has_the_kernels),
        COLLECTOR_TEST(an_ended_threads_slot_goes_to_another_without_mixing_them),
        COLLECTOR_TEST(a_dead_process_is_drained_to_its_end),
        COLLECTOR_TEST(one_that_stops_its_sampler_has_ended_and_lives_on),
        COLLECTOR_TEST(one_that_has_become_another_program_by_exec_has_ended),
        COLLECTOR_TEST(the_started_program_has_ended_as_soon_as_it_is_another),
        COLLECTOR_TEST(one_that_ticks_is_the_program_that_it_was),
        COLLECTOR_TEST(an_awaited_end_is_shown_when_it_is_known_how),
        COLLECTOR_TEST(it_may_be_known_how_before_the_end_is_seen),
        COLLECTOR_TEST(an_awaited_end_waits_for_a_second_only_and_how_is_shown_later),
        COLLECTOR_TEST(the_end_of_who_is_not_awaited_is_shown_at_once),
        COLLECTOR_TEST(ends_are_numbered_as_they_are_shown),
        COLLECTOR_TEST(what_exec_ends_does_not_wait_and_the_last_program_has_the_status),
        COLLECTOR_TEST(a_program_after_exec_replaces_one_that_left_no_sample),
        COLLECTOR_TEST(a_program_after_exec_stands_beside_one_that_left_samples),
        COLLECTOR_TEST(a_program_after_exec_has_not_left_out_what_the_one_before_it_used),
        COLLECTOR_TEST(the_cpu_time_of_the_forgotten_is_remembered),
        COLLECTOR_TEST(thousands_of_short_programs_without_samples_are_forgotten),
        COLLECTOR_TEST(what_is_no_feed_is_refused_and_its_descriptor_closed),
        COLLECTOR_TEST(a_scribbled_feed_is_survived_and_counted),
        COLLECTOR_TEST(an_unterminated_module_path_is_cut_at_the_names_end),
        COLLECTOR_TEST(settings_reach_the_programs_there_and_those_to_come),
        COLLECTOR_TEST(growing_losses_are_told_once),
        COLLECTOR_TEST(the_version_grows_with_what_is_shown_and_else_stands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Events in, windows of them out: pairs, marks, the bound, what is cleared. */
#include "sampler/profile/events/event_store.h"

#include "sampler/feed/cleanup.h"
#include "sampler/profile/events/event_reading.h"
#include "sampler/profile/events/event_words.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct event_store *store;
    struct owner *owner;
    struct track *track;
};

static void fixture_open(struct fixture *fixture, size_t bytes_max)
{
    assert_int_equal(event_store_new(&fixture->store, bytes_max), 0);
    assert_int_equal(owner_new(&fixture->owner, 1), 0);
    assert_int_equal(event_store_track(fixture->store, fixture->owner, 10, "main", &fixture->track),
                     0);
}

static void fixture_close(struct fixture *fixture)
{
    event_store_free(fixture->store);
    owner_release(fixture->owner);
}

static struct event event_of(enum timeline_kind kind, const char *name, int64_t at_ns)
{
    return (struct event){
        .kind = kind, .start_ns = at_ns, .name = EVENT_WORD(name), .stream = EVENT_WORD("Dart")
    };
}

static void begin(struct fixture *fixture, const char *name, int64_t at_ns)
{
    struct event event = event_of(TIMELINE_SLICE, name, at_ns);

    assert_int_equal(event_store_begin(fixture->store, fixture->track, &event), 0);
}

static void end(struct fixture *fixture, int64_t at_ns)
{
    struct event event = event_of(TIMELINE_SLICE, "", at_ns);

    assert_int_equal(event_store_end(fixture->store, fixture->track, &event), 0);
}

static void put(struct fixture *fixture, const struct event *event)
{
    assert_int_equal(event_store_put(fixture->store, fixture->track, event), 0);
}

struct all {
    struct event_views views;
    struct event_reading reading;
    struct event_filter filter;
};

static void all_open(struct all *all, struct fixture *fixture, const struct event_filter *filter)
{
    struct event_ask ask = EVENT_ASK_ALL;

    *all = (struct all){ .filter = filter ? *filter : (struct event_filter){ 0 } };
    ask.open = true;
    assert_int_equal(event_store_views(fixture->store, &ask, &all->views), 0);
}

static void all_close(struct all *all)
{
    event_views_free(&all->views);
}

static bool next(struct all *all, struct timeline_event *out)
{
    bool damaged = false;

    if (!event_reading_find(&all->views, &all->filter, &all->reading, UINT64_MAX, &damaged))
        return false;
    event_reading_take(&all->views, &all->reading, out);
    return true;
}

static void assert_slice(struct all *all, const char *name, int64_t start_ns, uint64_t duration_ns,
                         uint32_t depth, enum timeline_mark mark)
{
    struct timeline_event event;

    assert_true(next(all, &event));
    assert_int_equal(event.kind, TIMELINE_SLICE);
    assert_string_equal(event.name, name);
    assert_int_equal(event.start_ns, start_ns);
    assert_int_equal(event.duration_ns, duration_ns);
    assert_int_equal(event.depth, depth);
    assert_int_equal(event.mark, mark);
}

static void assert_no_more(struct all *all)
{
    struct timeline_event event;

    assert_false(next(all, &event));
}

static void slices_come_in_the_order_of_their_ends_with_their_depth(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "outer", 1000);
    begin(&fixture, "inner", 1100);
    end(&fixture, 1150);
    begin(&fixture, "inner", 1200);
    end(&fixture, 1290);
    end(&fixture, 2000);
    all_open(&all, &fixture, NULL);
    assert_slice(&all, "inner", 1100, 50, 1, TIMELINE_WHOLE);
    assert_slice(&all, "inner", 1200, 90, 1, TIMELINE_WHOLE);
    assert_slice(&all, "outer", 1000, 1000, 0, TIMELINE_WHOLE);
    assert_no_more(&all);
    assert_int_equal(all.views.open_count, 0);
}

static void what_has_not_ended_stands_open(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "outer", 1000);
    begin(&fixture, "inner", 1100);
    all_open(&all, &fixture, NULL);
    assert_no_more(&all);
    assert_int_equal(all.views.open_count, 2);
    assert_string_equal(all.views.open[0].slice.name.text, "outer");
    assert_string_equal(all.views.open[1].slice.name.text, "inner");
    assert_string_equal(all.views.open[1].slice.stream.text, "Dart");
    assert_int_equal(all.views.open[1].depth, 1);
    assert_int_equal(all.views.open[1].slice.start_ns, 1100);
}

static void a_thread_that_ends_cuts_its_slices_off(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "outer", 1000);
    begin(&fixture, "inner", 1100);
    event_store_end_track(fixture.store, fixture.track, 3000);
    all_open(&all, &fixture, NULL);
    assert_slice(&all, "inner", 1100, 1900, 1, TIMELINE_CUT_OFF);
    assert_slice(&all, "outer", 1000, 2000, 0, TIMELINE_CUT_OFF);
    assert_no_more(&all);
    assert_int_equal(event_store_history(fixture.store).cut_off, 2);
}

static void an_end_without_a_begin_is_marked_and_counted(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;

    (void)state;
    fixture_open(&fixture, 0);
    end(&fixture, 500);
    begin(&fixture, "whole", 600);
    end(&fixture, 700);
    all_open(&all, &fixture, NULL);
    assert_slice(&all, "", 500, 0, 0, TIMELINE_NO_BEGIN);
    assert_slice(&all, "whole", 600, 100, 0, TIMELINE_WHOLE);
    assert_int_equal(event_store_history(fixture.store).unmatched, 1);
}

/* The inner one's stream was switched off, so its end never comes. */
static void an_end_is_of_its_streams_last_slice_and_cuts_off_what_is_inside(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    struct event other = event_of(TIMELINE_SLICE, "other", 1100);

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "outer", 1000);
    other.stream = EVENT_WORD("GC");
    assert_int_equal(event_store_begin(fixture.store, fixture.track, &other), 0);
    end(&fixture, 2000);
    other.start_ns = 3000;
    assert_int_equal(event_store_end(fixture.store, fixture.track, &other), 0);
    all_open(&all, &fixture, NULL);
    assert_slice(&all, "other", 1100, 900, 1, TIMELINE_CUT_OFF);
    assert_slice(&all, "outer", 1000, 1000, 0, TIMELINE_WHOLE);
    assert_slice(&all, "", 3000, 0, 0, TIMELINE_NO_BEGIN);
    assert_no_more(&all);
}

static void a_clock_that_goes_back_makes_no_duration(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "back", 1000);
    end(&fixture, 990);
    all_open(&all, &fixture, NULL);
    assert_slice(&all, "back", 1000, 0, 0, TIMELINE_WHOLE);
    assert_int_equal(event_store_history(fixture.store).backward, 1);
}

/* One ended and two began unseen: the outer one is what it was, the rest is not known. */
static void a_loss_leaves_the_slices_that_are_known_to_stand_open(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "outer", 1000);
    begin(&fixture, "lost end", 1100);
    assert_int_equal(event_store_lost(fixture.store, fixture.track, 2000, 1, 2), 0);
    end(&fixture, 2100);
    end(&fixture, 2200);
    end(&fixture, 2300);
    all_open(&all, &fixture, NULL);
    assert_slice(&all, "lost end", 1100, 900, 1, TIMELINE_CUT_OFF);
    assert_slice(&all, "", 2100, 0, 2, TIMELINE_NO_BEGIN);
    assert_slice(&all, "", 2200, 0, 1, TIMELINE_NO_BEGIN);
    assert_slice(&all, "outer", 1000, 1300, 0, TIMELINE_WHOLE);
    assert_no_more(&all);
}

static void slices_beyond_the_depth_that_is_kept_are_counted_and_pair_all_the_same(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    struct timeline_event event;
    uint32_t deepest = 0, count = 0;

    (void)state;
    fixture_open(&fixture, 0);
    for (int i = 0; i < TRACK_DEPTH_MAX + 10; i++)
        begin(&fixture, "deep", 1000 + i);
    for (int i = 0; i < TRACK_DEPTH_MAX + 10; i++)
        end(&fixture, 100000 + i);
    all_open(&all, &fixture, NULL);
    for (; next(&all, &event); count++) {
        deepest = event.depth > deepest ? event.depth : deepest;
        assert_int_equal(event.start_ns, 1000 + event.depth);
    }
    assert_int_equal(count, TRACK_DEPTH_MAX);
    assert_int_equal(deepest, TRACK_DEPTH_MAX - 1);
    assert_int_equal(event_store_history(fixture.store).too_deep, 10);
    assert_int_equal(event_store_history(fixture.store).unmatched, 0);
}

static void arguments_of_begin_and_end_come_back_as_they_were(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    char word[] = "text that is written over";
    double number = -0.5;
    uint64_t bits;
    struct event_argument first[2] = {
        { .name = EVENT_WORD("signed"), .type = FEED_ARGUMENT_INT, .word = (uint64_t)-7 },
        { .name = EVENT_WORD("text"), .type = FEED_ARGUMENT_TEXT, .text = EVENT_WORD(word) },
    };
    struct event_argument last[3] = {
        { .name = EVENT_WORD("double"), .type = FEED_ARGUMENT_DOUBLE },
        { .name = EVENT_WORD("count"), .type = FEED_ARGUMENT_UINT, .word = UINT64_MAX },
        { .name = EVENT_WORD("one too many"), .type = FEED_ARGUMENT_UINT, .word = 1 },
    };
    struct event event = event_of(TIMELINE_SLICE, "slice", 10);
    struct timeline_event out;

    (void)state;
    memcpy(&bits, &number, sizeof(bits));
    last[0].word = bits;
    fixture_open(&fixture, 0);
    event.arguments = first;
    event.argument_count = 2;
    event_store_begin(fixture.store, fixture.track, &event);
    memset(word, 'x', sizeof(word) - 1);
    event = event_of(TIMELINE_SLICE, "", 20);
    event.arguments = last;
    event.argument_count = 3;
    event_store_end(fixture.store, fixture.track, &event);
    all_open(&all, &fixture, NULL);
    assert_true(next(&all, &out));
    assert_int_equal(out.argument_count, 4);
    assert_string_equal(out.arguments[0].name, "signed");
    assert_int_equal(out.arguments[0].integer, -7);
    assert_string_equal(out.arguments[1].text, "text that is written over");
    assert_true(out.arguments[2].number == -0.5);
    assert_string_equal(out.arguments[3].name, "count");
    assert_true(out.arguments[3].count == UINT64_MAX);
}

static void long_times_far_starts_and_large_ids_fit(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    struct event event = event_of(TIMELINE_INSTANT, "base", INT64_C(1) << 60);
    struct timeline_event out;

    (void)state;
    fixture_open(&fixture, 0);
    put(&fixture, &event);
    event = event_of(TIMELINE_SLICE, "long", 5);
    event.duration_ns = UINT64_C(1) << 61;
    event.complete = true;
    put(&fixture, &event);
    event = event_of(TIMELINE_ASYNC_BEGIN, "small id", 6);
    event.id = 0xfffffffe;
    put(&fixture, &event);
    event.id = UINT64_MAX;
    put(&fixture, &event);
    event = event_of(TIMELINE_FRAME, "frame", 7);
    event.id = 3;
    event.duration_ns = 16000000;
    put(&fixture, &event);
    all_open(&all, &fixture, NULL);
    assert_true(next(&all, &out));
    assert_true(out.start_ns == INT64_C(1) << 60 && out.id == 0);
    assert_true(next(&all, &out));
    assert_true(out.start_ns == 5 && out.duration_ns == UINT64_C(1) << 61 && out.complete);
    assert_true(next(&all, &out));
    assert_true(out.id == 0xfffffffe && out.duration_ns == 0 && !out.complete);
    assert_true(next(&all, &out));
    assert_true(out.id == UINT64_MAX);
    assert_true(next(&all, &out));
    assert_true(out.kind == TIMELINE_FRAME && out.id == 3 && out.duration_ns == 16000000);
}

static void add_instants(struct fixture *fixture, uint32_t count)
{
    struct event event = event_of(TIMELINE_INSTANT, "tick", 0);

    for (uint32_t i = 0; i < count; i++) {
        event.start_ns = 1000 + i;
        put(fixture, &event);
    }
}

static uint64_t visible(struct fixture *fixture)
{
    CLEANUP(all_close) struct all all;
    struct timeline_event event;
    uint64_t count = 0;

    all_open(&all, fixture, NULL);
    while (next(&all, &event))
        count++;
    return count;
}

static void a_full_store_lets_the_oldest_go_and_counts_them(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct timeline_history history;

    (void)state;
    fixture_open(&fixture, EVENT_STORE_BYTES_MIN);
    add_instants(&fixture, 100000);
    history = event_store_history(fixture.store);
    assert_true(history.bytes <= EVENT_STORE_BYTES_MIN);
    assert_true(history.bytes > EVENT_STORE_BYTES_MIN * 3 / 4);
    assert_true(history.evicted > 0);
    assert_int_equal(history.events + history.evicted, 100000);
    assert_int_equal(visible(&fixture), history.events);
    assert_int_equal(history.first_ns, 1000 + history.evicted);
    assert_int_equal(history.last_ns, 1000 + 99999);
}

/* Names are of their chunk: what was evicted takes no memory any more. */
static void a_million_different_names_stay_within_the_bound(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    struct timeline_event out;
    char name[32];
    uint64_t count;

    (void)state;
    fixture_open(&fixture, EVENT_STORE_BYTES_MIN);
    for (int i = 0; i < 1000000; i++) {
        snprintf(name, sizeof(name), "name %d", i);
        struct event event = event_of(TIMELINE_INSTANT, name, i);

        put(&fixture, &event);
    }
    assert_true(event_store_history(fixture.store).bytes <= EVENT_STORE_BYTES_MIN);
    all_open(&all, &fixture, NULL);
    for (count = 0; next(&all, &out); count++) {
        snprintf(name, sizeof(name), "name %d", (int)out.start_ns);
        assert_string_equal(out.name, name);
    }
    assert_int_equal(count, event_store_history(fixture.store).events);
}

static void an_event_takes_17_bytes(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;

    (void)state;
    fixture_open(&fixture, 0);
    add_instants(&fixture, 1000000);
    assert_in_range(event_store_history(fixture.store).bytes, 16000000, 17000000);
}

static void clearing_one_process_leaves_the_others_and_what_stands_open(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    struct owner *owner;
    struct track *other;
    struct event event = event_of(TIMELINE_INSTANT, "tick", 5);

    (void)state;
    fixture_open(&fixture, 0);
    assert_int_equal(owner_new(&owner, 2), 0);
    assert_int_equal(event_store_track(fixture.store, owner, 20, "other", &other), 0);
    begin(&fixture, "open", 1);
    add_instants(&fixture, 10);
    assert_int_equal(event_store_put(fixture.store, other, &event), 0);
    event_store_clear(fixture.store, fixture.owner);
    assert_int_equal(visible(&fixture), 1);
    assert_false(event_store_has(fixture.store, fixture.owner));
    assert_true(event_store_has(fixture.store, owner));
    end(&fixture, 3000);
    assert_int_equal(visible(&fixture), 2);
    assert_int_equal(event_store_history(fixture.store).events, 2);
    owner_release(owner);
}

static void a_window_has_what_overlaps_it(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    const struct event_filter filter = { true, 250000, 250010, 0 };
    struct timeline_event out;
    uint32_t instants = 0, slices = 0;

    (void)state;
    fixture_open(&fixture, 0);
    begin(&fixture, "around all", 500);
    add_instants(&fixture, 400000);
    end(&fixture, 600000);
    all_open(&all, &fixture, &filter);
    while (next(&all, &out)) {
        instants += out.kind == TIMELINE_INSTANT;
        slices += out.kind == TIMELINE_SLICE;
        assert_true(out.start_ns <= 250010 && out.start_ns + (int64_t)out.duration_ns >= 250000);
    }
    assert_int_equal(instants, 11);
    assert_int_equal(slices, 1);
}

/* From any place on, whatever words the events before it have. */
static void reading_goes_on_at_any_place(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    CLEANUP(all_close) struct all all;
    struct event_argument argument = { .name = EVENT_WORD("n"), .type = FEED_ARGUMENT_UINT };
    struct timeline_event out;

    (void)state;
    fixture_open(&fixture, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        struct event event = event_of(TIMELINE_COUNTER, "counter", i);

        argument.word = i;
        event.arguments = &argument;
        event.argument_count = i % 3 == 0;
        put(&fixture, &event);
    }
    all_open(&all, &fixture, NULL);
    for (uint32_t i = 1000; i-- > 0;) {
        all.reading = (struct event_reading){ EVENT_PLACE(0, i), EVENT_WORDS_UNKNOWN };
        assert_true(next(&all, &out));
        assert_int_equal(out.start_ns, i);
        assert_int_equal(out.argument_count, i % 3 == 0);
        if (i % 3 == 0)
            assert_int_equal(out.arguments[0].count, i);
    }
}

/* Of a bounded store, from which chunks go meanwhile. */
static void *add_beside(void *context)
{
    struct fixture *fixture = context;

    for (int i = 0; i < 60000; i++) {
        begin(fixture, i % 2 ? "odd" : "even", 10 * i);
        end(fixture, 10 * i + 5);
    }
    return NULL;
}

static void a_reader_sees_whole_events_beside_the_writer(void **state)
{
    CLEANUP(fixture_close) struct fixture fixture;
    uint64_t last = 0;
    pthread_t thread;

    (void)state;
    fixture_open(&fixture, EVENT_STORE_BYTES_MIN);
    assert_int_equal(pthread_create(&thread, NULL, add_beside, &fixture), 0);
    do {
        CLEANUP(all_close) struct all all;
        struct timeline_event event;

        all_open(&all, &fixture, NULL);
        while (next(&all, &event)) {
            assert_int_equal(event.duration_ns, 5);
            assert_string_equal(event.name, event.start_ns / 10 % 2 ? "odd" : "even");
            last = (uint64_t)event.start_ns;
        }
    } while (last < 10 * 59999);
    pthread_join(thread, NULL);
}

static void words_of_an_event_come_back_as_they_were(void **state)
{
    uint64_t words[EVENT_WORDS_MAX];
    uint32_t written;

    (void)state;
    for (uint32_t flags = 0; flags < 8; flags++)
        for (uint32_t count = 0; count <= FEED_EVENT_ARGUMENTS_MAX; count++) {
            struct event_extra extra = { .wide = flags & 1,
                                         .has_id = flags & 2,
                                         .has_depth = flags & 4,
                                         .argument_count = count },
                               out;

            for (uint32_t i = 0; i < count; i++)
                extra.arguments[i] =
                    (struct event_extra_argument){ (uint16_t)(65535 - i), (uint8_t)(3 - i),
                                                   UINT64_MAX - i };
            extra.start_ns = extra.wide ? -5 : 0;
            extra.duration_ns = extra.wide ? UINT64_MAX : 0;
            extra.id = extra.has_id ? 77 : 0;
            extra.depth = extra.has_depth ? 4000 : 0;
            written = event_words_write(&extra, words);
            assert_int_equal(event_words_count(words), written);
            assert_int_equal(event_words_read(words, &out), written);
            assert_memory_equal(&out, &extra, sizeof(out));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_come_in_the_order_of_their_ends_with_their_depth),
        cmocka_unit_test(what_has_not_ended_stands_open),
        cmocka_unit_test(a_thread_that_ends_cuts_its_slices_off),
        cmocka_unit_test(an_end_without_a_begin_is_marked_and_counted),
        cmocka_unit_test(an_end_is_of_its_streams_last_slice_and_cuts_off_what_is_inside),
        cmocka_unit_test(a_clock_that_goes_back_makes_no_duration),
        cmocka_unit_test(a_loss_leaves_the_slices_that_are_known_to_stand_open),
        cmocka_unit_test(slices_beyond_the_depth_that_is_kept_are_counted_and_pair_all_the_same),
        cmocka_unit_test(arguments_of_begin_and_end_come_back_as_they_were),
        cmocka_unit_test(long_times_far_starts_and_large_ids_fit),
        cmocka_unit_test(a_full_store_lets_the_oldest_go_and_counts_them),
        cmocka_unit_test(a_million_different_names_stay_within_the_bound),
        cmocka_unit_test(an_event_takes_17_bytes),
        cmocka_unit_test(clearing_one_process_leaves_the_others_and_what_stands_open),
        cmocka_unit_test(a_window_has_what_overlaps_it),
        cmocka_unit_test(reading_goes_on_at_any_place),
        cmocka_unit_test(a_reader_sees_whole_events_beside_the_writer),
        cmocka_unit_test(words_of_an_event_come_back_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "sampler/profile/stalls.h"

#include "fake_events.h"
#include "fake_stalls.h"
#include "profile_fixture.h"
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/stalls/teller.h"
#include "sampler/profile/timeline.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const int64_t ms = 1000000;

static int open_fixture(void **state)
{
    *state = fixture_begin(NULL);
    return fixture_attach(*state);
}

static int close_fixture(void **state)
{
    return fixture_end(*state);
}

static void sample(struct fixture *fixture, int64_t at_ms, uint64_t leaf, uint64_t caller)
{
    const uint64_t frames[] = { FEED_FRAME(fixture->module, leaf),
                                FEED_FRAME(fixture->module, caller) };

    assert_true(fake_feed_write(&fixture->feed, fixture->slot,
                                &(struct fake_sample){ .timestamp_us = at_ms * 1000,
                                                       .cpu_ns = 1000000,
                                                       .depth = caller ? 2 : 1,
                                                       .frames = frames }));
}

/* Every 5 ms from begin_ms on, before end_ms. */
static void sample_for(struct fixture *fixture, int64_t begin_ms, int64_t end_ms, uint64_t leaf,
                       uint64_t caller)
{
    for (int64_t at_ms = begin_ms; at_ms < end_ms; at_ms += 5)
        sample(fixture, at_ms, leaf, caller);
}

static const struct stall_evidence no_evidence = { .descriptor = -1 };

static struct late_dispatch late(const struct fixture *fixture, uint64_t mark, int64_t start_ms,
                                 int64_t duration_ms)
{
    return (struct late_dispatch){ .process_id = fixture->id,
                                   .loop = 3,
                                   .mark = mark,
                                   .tid = 7,
                                   .name = "worker",
                                   .thread_name = "main",
                                   .limit_ns = 250 * ms,
                                   .start_ns = { start_ms * ms, (start_ms + 2) * ms },
                                   .duration_ns = { duration_ms * ms, (duration_ms + 2) * ms },
                                   .evidence = &no_evidence,
                                   .cause = STALL_CAUSE_BUSY };
}

static struct loop_reports reports_of(const struct fixture *fixture)
{
    return stall_log_reports(fixture->profile->stalls);
}

static void arm_and_reach(const struct fixture *fixture, const struct late_dispatch *dispatch)
{
    struct loop_reports reports = reports_of(fixture);

    reports.armed(reports.context, dispatch);
    reports.reached(reports.context, dispatch, STALL_LEVEL_STALL);
}

static void end(const struct fixture *fixture, const struct late_dispatch *dispatch)
{
    struct loop_reports reports = reports_of(fixture);

    reports.ended(reports.context, dispatch);
}

/* Names are read in the caller's turn, so that nothing is pending. */
static int64_t tell(struct fixture *fixture, int64_t now_ms)
{
    return teller_round(fixture->profile->teller, now_ms * ms);
}

static struct stalls *take(struct fixture *fixture, uint64_t since)
{
    struct stalls *stalls = NULL;

    assert_int_equal(
        stalls_take(&stalls, fixture->profile, &(struct stalls_window){ .since = since }), 0);
    return stalls;
}

static void a_stall_is_seen_while_it_lasts_and_when_it_has_ended(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 250);
    struct stalls *stalls;
    const struct stall *stall;
    uint64_t change;

    sample_for(fixture, 1000, 1040, A, 0);
    sample_for(fixture, 1040, 1200, B, A);
    sample_for(fixture, 1200, 1250, A, 0);
    arm_and_reach(fixture, &dispatch);
    tell(fixture, 1250);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_count(stalls), 1);
    stall = stalls_at(stalls, 0);
    assert_int_equal(stall->number, 1);
    assert_true(stall->ongoing && stall->told);
    assert_int_equal(stall->equals, 1);
    assert_int_equal(stall->updates, 0);
    assert_string_equal(stall->name, "worker");
    assert_string_equal(stall->culprit.function, "b");
    assert_string_equal(stall->culprit.library, "app");
    assert_int_equal(stall->culprit_ns, 160 * ms);
    assert_int_equal(stall->culprit_looks, 32);
    assert_int_equal(stall->looks, 50);
    assert_string_equal(stall->caller.function, "b");
    assert_int_equal(stall->run_count, 3);
    assert_string_equal(stall->runs[0].function, "a");
    assert_int_equal(stall->runs[1].from_ns, 1040 * ms);
    assert_int_equal(stall->stack_count, STALL_STACKS_MAX);
    assert_int_equal(stall->stacks[STALL_STACKS_MAX - 1].at_ns, 1245 * ms);
    change = stalls_change(stalls);
    assert_int_equal(change, profile_stalls_change(fixture->profile));
    stalls_free(stalls);

    dispatch.duration_ns = (struct stall_range){ 300 * ms, 300 * ms };
    sample_for(fixture, 1250, 1300, A, 0);
    end(fixture, &dispatch);
    tell(fixture, 1310);
    stalls = take(fixture, change);
    assert_int_equal(stalls_count(stalls), 1);
    stall = stalls_at(stalls, 0);
    assert_int_equal(stall->number, 1);
    assert_false(stall->ongoing);
    assert_int_equal(stall->duration_ns.max, 300 * ms);
    assert_int_equal(stall->looks, 60);
    assert_true(stall->change > change);
    stalls_free(stalls);
}

/* Readers see how long it is by now, not how long it was when it was told. */
static void a_stall_that_goes_on_grows_between_two_tellings(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 250);
    struct loop_reports reports = reports_of(fixture);
    struct stalls *stalls;

    arm_and_reach(fixture, &dispatch);
    tell(fixture, 1250);
    dispatch.duration_ns = (struct stall_range){ 900 * ms, 902 * ms };
    reports.looked(reports.context, &dispatch);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_at(stalls, 0)->duration_ns.min, 900 * ms);
    assert_int_equal(stalls_at(stalls, 0)->updates, 0);
    stalls_free(stalls);
}

static void a_candidate_that_is_dismissed_leaves_no_trace(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 210);
    struct loop_reports reports = reports_of(fixture);
    struct stalls *stalls;

    reports.armed(reports.context, &dispatch);
    tell(fixture, 1210);
    reports.dismissed(reports.context, &dispatch);
    assert_int_equal(tell(fixture, 1300), INT64_MAX);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_count(stalls), 0);
    stalls_free(stalls);
    assert_int_equal(profile_stall_counts(fixture->profile).seen, 0);
}

static void a_stall_that_is_dismissed_when_it_was_told_ends(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 250);
    struct loop_reports reports = reports_of(fixture);
    struct stalls *stalls;

    arm_and_reach(fixture, &dispatch);
    tell(fixture, 1250);
    dispatch.cause = STALL_CAUSE_STOPPED;
    reports.dismissed(reports.context, &dispatch);
    tell(fixture, 1300);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_count(stalls), 1);
    assert_false(stalls_at(stalls, 0)->ongoing);
    assert_int_equal(stalls_at(stalls, 0)->cause, STALL_CAUSE_STOPPED);
    stalls_free(stalls);
}

static uint32_t updates_at(struct fixture *fixture)
{
    struct stalls *stalls = take(fixture, 0);
    uint32_t updates = stalls_at(stalls, 0)->updates;

    stalls_free(stalls);
    return updates;
}

/* After 1, 2 and 3 s with one stack; at once with another, or when it has become a hang. */
static void a_stall_is_told_again_when_there_is_something_new(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 250);
    struct loop_reports reports = reports_of(fixture);
    int64_t begin_ms = 1250;

    sample_for(fixture, 1000, 1250, A, 0);
    arm_and_reach(fixture, &dispatch);
    assert_true(tell(fixture, begin_ms) >= 2250 * ms);
    tell(fixture, begin_ms + 1000);
    assert_int_equal(updates_at(fixture), 1);
    tell(fixture, begin_ms + 2000);
    assert_int_equal(updates_at(fixture), 1);
    tell(fixture, begin_ms + 3000);
    assert_int_equal(updates_at(fixture), 2);
    sample(fixture, 4400, B, 0);
    tell(fixture, begin_ms + 4000);
    assert_int_equal(updates_at(fixture), 3);
    reports.reached(reports.context, &dispatch, STALL_LEVEL_HANG);
    tell(fixture, begin_ms + 4001);
    assert_int_equal(updates_at(fixture), 4);
}

static void equal_stalls_are_all_listed_and_told_ever_more_seldom(void **state)
{
    static const uint64_t told[] = { 1, 2, 3, 5, 8, 13, 21, 34, 55, 89 }; /* ten in a day */
    struct fixture *fixture = *state;
    struct stalls *stalls;
    size_t found = 0;

    for (uint64_t i = 0; i < 150; i++) {
        int64_t start_ms = 1000 + 1000 * (int64_t)i;
        struct late_dispatch dispatch = late(fixture, 2 * i + 1, start_ms, 300);

        sample_for(fixture, start_ms, start_ms + 300, B, A);
        arm_and_reach(fixture, &dispatch);
        if (i % 2) /* it is told while it lasts, or not before its end */
            tell(fixture, start_ms + 250);
        end(fixture, &dispatch);
        tell(fixture, start_ms + 310);
    }
    stalls = take(fixture, 0);
    assert_int_equal(stalls_count(stalls), 150);
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(stalls_at(stalls, i)->equals, i + 1);
        if (stalls_at(stalls, i)->told)
            assert_int_equal(stalls_at(stalls, i)->number, told[found++]);
    }
    assert_int_equal(found, 10);
    assert_int_equal(profile_stall_counts(fixture->profile).seen, 150);
    assert_int_equal(profile_stall_counts(fixture->profile).told, 10);
    assert_int_equal(profile_stall_counts(fixture->profile).over_stack, 1); /* the 144th */
    assert_int_equal(profile_stall_counts(fixture->profile).annealed, 139);
    stalls_free(stalls);
}

static void a_stall_of_another_function_is_told_among_equal_ones(void **state)
{
    struct fixture *fixture = *state;
    struct stalls *stalls;

    for (uint64_t i = 0; i < 4; i++) {
        int64_t start_ms = 1000 + 1000 * (int64_t)i;
        struct late_dispatch dispatch = late(fixture, 2 * i + 1, start_ms, 300);

        sample_for(fixture, start_ms, start_ms + 300, i == 3 ? A : B, 0);
        arm_and_reach(fixture, &dispatch);
        end(fixture, &dispatch);
        tell(fixture, start_ms + 310);
    }
    stalls = take(fixture, 0);
    assert_true(stalls_at(stalls, 3)->told);
    assert_int_equal(stalls_at(stalls, 3)->equals, 1);
    assert_int_equal(stalls_at(stalls, 2)->equals, 3);
    stalls_free(stalls);
}

/* 200 ms of one function, then 800 ms of others: it began as its equals did, and is told at its end. */
static void a_stall_that_only_begins_as_others_did_is_told_at_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct stalls *stalls;

    for (uint64_t i = 0; i < 4; i++) {
        int64_t start_ms = 1000 + 2000 * (int64_t)i;
        struct late_dispatch dispatch = late(fixture, 2 * i + 1, start_ms, 250);

        sample_for(fixture, start_ms, start_ms + 250, B, 0);
        arm_and_reach(fixture, &dispatch);
        tell(fixture, start_ms + 250);
        dispatch.duration_ns = (struct stall_range){ 1000 * ms, 1000 * ms };
        sample_for(fixture, start_ms + 250, start_ms + 1000, i == 3 ? A : B, 0);
        if (i == 3) {
            stalls = take(fixture, 0);
            assert_false(stalls_at(stalls, 3)->told);
            assert_int_equal(stalls_at(stalls, 3)->equals, 4);
            stalls_free(stalls);
        }
        end(fixture, &dispatch);
        tell(fixture, start_ms + 1010);
    }
    stalls = take(fixture, 0);
    assert_true(stalls_at(stalls, 3)->told);
    assert_int_equal(stalls_at(stalls, 3)->equals, 1);
    assert_string_equal(stalls_at(stalls, 3)->culprit.function, "a");
    stalls_free(stalls);
}

static void a_window_has_what_overlaps_it_of_its_process_and_thread(void **state)
{
    struct fixture *fixture = *state;
    struct stall stall = fake_stall(fixture->id, 1);
    struct stalls *stalls;
    struct stalls_window window = {
        .process_id = fixture->id, .tid = 7, .bounded = true, .origin_us = 1301000, .extent_us = 10
    };

    fake_stall_put(fixture->profile, &stall);
    assert_int_equal(stalls_take(&stalls, fixture->profile, &window), 0);
    assert_int_equal(stalls_count(stalls), 1);
    stalls_free(stalls);
    window.origin_us = 1303000;
    assert_int_equal(stalls_take(&stalls, fixture->profile, &window), 0);
    assert_int_equal(stalls_count(stalls), 0);
    stalls_free(stalls);
    window.origin_us = 0;
    window.extent_us = 999999;
    assert_int_equal(stalls_take(&stalls, fixture->profile, &window), 0);
    assert_int_equal(stalls_count(stalls), 0);
    stalls_free(stalls);
    window.bounded = false;
    window.tid = 8;
    assert_int_equal(stalls_take(&stalls, fixture->profile, &window), 0);
    assert_int_equal(stalls_count(stalls), 0);
    stalls_free(stalls);
    window.process_id = 1;
    assert_int_equal(stalls_take(&stalls, fixture->profile, &window), -ISOSCOPE_NOT_FOUND);
}

static void who_follows_gets_what_changed_in_parts(void **state)
{
    struct fixture *fixture = *state;
    struct stalls_window window = { .count_max = 2 };
    struct stalls *stalls;

    for (uint64_t number = 1; number <= 5; number++) {
        struct stall stall = fake_stall(fixture->id, number);

        fake_stall_put(fixture->profile, &stall);
    }
    for (uint64_t number = 1; number <= 5; number += 2) {
        assert_int_equal(stalls_take(&stalls, fixture->profile, &window), 0);
        assert_int_equal(stalls_count(stalls), number < 5 ? 2 : 1);
        assert_int_equal(stalls_at(stalls, 0)->number, number);
        window.since = stalls_change(stalls);
        stalls_free(stalls);
    }
    fake_stall_put(fixture->profile, &(struct stall){ .number = 2, .process_id = fixture->id });
    assert_int_equal(stalls_take(&stalls, fixture->profile, &window), 0);
    assert_int_equal(stalls_count(stalls), 1);
    assert_int_equal(stalls_at(stalls, 0)->number, 2);
    stalls_free(stalls);
}

/* Those that go on stay; of those that come, none counts with what was forgotten. */
static void clearing_forgets_what_has_ended(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 1, 1000, 300);
    struct stalls *stalls;

    sample_for(fixture, 1000, 1300, B, A);
    arm_and_reach(fixture, &dispatch);
    end(fixture, &dispatch);
    tell(fixture, 1310);
    dispatch = late(fixture, 3, 2000, 300);
    sample_for(fixture, 2000, 2300, B, A);
    arm_and_reach(fixture, &dispatch);
    tell(fixture, 2310);
    profile_stalls_clear(fixture->profile, fixture->id + 1);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_count(stalls), 2);
    stalls_free(stalls);
    profile_stalls_clear(fixture->profile, fixture->id);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_count(stalls), 1);
    assert_int_equal(stalls_at(stalls, 0)->number, 2);
    assert_int_equal(stalls_at(stalls, 0)->equals, 2);
    stalls_free(stalls);
    end(fixture, &dispatch);
    tell(fixture, 2320);
    stalls = take(fixture, 0);
    assert_int_equal(stalls_at(stalls, 0)->equals, 1);
    stalls_free(stalls);
}

/* Who holds a window keeps what is in it; what goes on stays in the list. */
static void the_list_is_bounded_and_counts_what_it_let_go(void **state)
{
    struct fixture *fixture = *state;
    const struct late_dispatch dispatch = late(fixture, 1, 1000, 250);
    struct stall_log *log = fixture->profile->stalls, *small;
    struct stall_log_window held, now;
    struct stall stall = fake_stall(fixture->id, 1);
    struct loop_reports reports;
    struct teller *teller;

    assert_int_equal(stall_log_new(&small, &(struct stall_log_options){ .count_max = 3 }), 0);
    assert_int_equal(
        teller_new(&teller, &(struct teller_options){ .profile = fixture->profile, .log = small }),
        0);
    reports = stall_log_reports(small);
    reports.armed(small, &dispatch);
    reports.reached(small, &dispatch, STALL_LEVEL_STALL);
    teller_round(teller, 1250 * ms);
    for (stall.number = 2; stall.number <= 3; stall.number++)
        fake_stall_put_into(small, &stall);
    assert_int_equal(stall_log_take(small, &(struct stalls_window){ 0 }, &held), 0);
    for (; stall.number <= 6; stall.number++)
        fake_stall_put_into(small, &stall);
    assert_int_equal(stall_log_take(small, &(struct stalls_window){ 0 }, &now), 0);
    assert_int_equal(now.count, 3);
    assert_int_equal(now.taken[0].kept->stall.number, 1);
    assert_int_equal(now.taken[1].kept->stall.number, 5);
    assert_int_equal(stall_log_counts(small).evicted, 3);
    assert_int_equal(stall_log_counts(log).evicted, 0);
    assert_int_equal(held.count, 3);
    assert_string_equal(held.taken[1].kept->stall.culprit.function, "b");
    stall_log_window_free(&held);
    stall_log_window_free(&now);
    teller_free(teller);
    stall_log_free(small);
}

static void a_kept_stall_has_all_its_text_and_each_word_once(void **state)
{
    struct stall stall = fake_stall(1, 1);
    struct kept_stall *kept;

    (void)state;
    stall.tag = "request";
    kept = kept_stall_new(&stall);
    assert_string_equal(kept->stall.name, "worker");
    assert_string_equal(kept->stall.tag, "request");
    assert_null(kept->stall.slice);
    assert_ptr_not_equal(kept->stall.name, stall.name);
    assert_string_equal(kept->stall.stacks[1].functions[2], "main");
    assert_ptr_equal(kept->stall.stacks[0].functions, kept->stall.stacks[1].functions);
    assert_ptr_equal(kept->stall.runs[1].function, kept->stall.culprit.function);
    assert_true(kept->bytes < sizeof(*kept) + 500);
    kept_stall_release(kept);
}

static void an_ended_stall_is_a_slice_of_its_loops_thread(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 300);
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;

    sample_for(fixture, 1000, 1300, B, A);
    arm_and_reach(fixture, &dispatch);
    end(fixture, &dispatch);
    tell(fixture, 1310);
    assert_int_equal(timeline_take(&timeline, fixture->profile,
                                   &(struct timeline_window){ .process_id = fixture->id,
                                                              .tid = 7,
                                                              .kinds = 1 << TIMELINE_SLICE }),
                     0);
    assert_true(timeline_next(timeline, &cursor, &event));
    assert_string_equal(event.name, "Stall");
    assert_string_equal(event.stream, "Embedder");
    assert_string_equal(event.thread_name, "main");
    assert_int_equal(event.start_ns, 1001 * ms);
    assert_int_equal(event.duration_ns, 301 * ms);
    assert_true(event.complete);
    assert_int_equal(event.argument_count, 3);
    assert_string_equal(event.arguments[0].text, "b");
    assert_string_equal(event.arguments[1].text, "busy");
    assert_string_equal(event.arguments[2].text, "worker");
    assert_false(timeline_next(timeline, &cursor, &event));
    timeline_free(timeline);
}

static void look(struct fixture *fixture, uint32_t slot, int64_t at_ms, uint64_t offset)
{
    fake_feed_look(&fixture->feed, slot, at_ms * 1000, FEED_STATE_LOCK,
                   FEED_FRAME(fixture->module, offset));
}

/* It ran in a, then waited in b for thread 9, which stood in a. */
static void looks_from_outside_its_slice_and_who_it_waits_for_are_in_a_stall(void **state)
{
    struct fixture *fixture = *state;
    const struct stall_evidence evidence = { .descriptor = -1, .holder_tid = 9, .holder = "other" };
    struct late_dispatch dispatch = late(fixture, 5, 1000, 300);
    uint32_t other = fake_feed_thread(&fixture->feed, 9, "other");
    const struct stall *stall;
    struct stalls *stalls;

    sample_for(fixture, 1000, 1040, A, 0);
    fake_begin(&fixture->feed, fixture->slot, 900 * ms, "request");
    fake_begin(&fixture->feed, fixture->slot, 1010 * ms, "draw");
    for (int64_t at_ms = 1200; at_ms < 1300; at_ms += 5) {
        look(fixture, fixture->slot, at_ms, B);
        look(fixture, other, at_ms, A);
    }
    dispatch.cause = STALL_CAUSE_LOCK;
    dispatch.evidence = &evidence;
    arm_and_reach(fixture, &dispatch);
    end(fixture, &dispatch);
    tell(fixture, 1310);
    stalls = take(fixture, 0);
    stall = stalls_at(stalls, 0);
    assert_string_equal(stall->culprit.function, "b");
    assert_int_equal(stall->culprit_looks, 20);
    assert_int_equal(stall->looks, 28);
    assert_int_equal(stall->run_count, 2);
    assert_int_equal(stall->runs[0].to_ns, 1045 * ms); /* what came behind nobody saw */
    assert_int_equal(stall->runs[1].from_ns, 1200 * ms);
    assert_int_equal(stall->stacks[STALL_STACKS_MAX - 1].state, FEED_STATE_LOCK);
    assert_string_equal(stall->slice, "draw");
    assert_string_equal(stall->evidence.holder, "other");
    assert_string_equal(stall->evidence.holder_function, "a");
    stalls_free(stalls);
}

/* As its thread said in the culprit's run. */
static void what_the_program_said_is_in_a_stall(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 300);
    uint32_t tag = feed_writer_name(&fixture->feed.writer, "load");
    const uint64_t frame = FEED_FRAME(fixture->module, B);
    struct stalls *stalls;

    sample_for(fixture, 1000, 1040, A, 0);
    for (int64_t at_ms = 1040; at_ms < 1300; at_ms += 5)
        fake_feed_write(&fixture->feed, fixture->slot,
                        &(struct fake_sample){ .timestamp_us = at_ms * 1000,
                                               .cpu_ns = 1000000,
                                               .tag = tag,
                                               .depth = 1,
                                               .frames = &frame });
    arm_and_reach(fixture, &dispatch);
    end(fixture, &dispatch);
    tell(fixture, 1310);
    stalls = take(fixture, 0);
    assert_string_equal(stalls_at(stalls, 0)->tag, "load");
    assert_null(stalls_at(stalls, 0)->slice);
    stalls_free(stalls);
}

static void count_change(void *context)
{
    atomic_fetch_add((_Atomic int *)context, 1);
}

/* With its own thread: readers, the watcher's reports and the teller at once. */
static void the_teller_tells_by_itself(void **state)
{
    struct fixture *fixture = *state;
    struct late_dispatch dispatch = late(fixture, 5, 1000, 300);
    _Atomic int changes = 0;
    struct teller *teller;
    struct stalls *stalls;
    bool ended = false;

    sample_for(fixture, 1000, 1300, B, A);
    assert_int_equal(teller_new(&teller, &(struct teller_options){ .profile = fixture->profile,
                                                                   .log = fixture->profile->stalls,
                                                                   .changed = count_change,
                                                                   .context = &changes }),
                     0);
    assert_int_equal(teller_start(teller), 0);
    arm_and_reach(fixture, &dispatch);
    end(fixture, &dispatch);
    while (!ended) {
        stalls = take(fixture, 0);
        ended = stalls_count(stalls) && !stalls_at(stalls, 0)->ongoing;
        if (ended)
            assert_string_equal(stalls_at(stalls, 0)->culprit.function, "b");
        stalls_free(stalls);
        sched_yield();
    }
    teller_free(teller);
    assert_true(changes >= 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stall_is_seen_while_it_lasts_and_when_it_has_ended),
        TEST(a_stall_that_goes_on_grows_between_two_tellings),
        TEST(a_candidate_that_is_dismissed_leaves_no_trace),
        TEST(a_stall_that_is_dismissed_when_it_was_told_ends),
        TEST(a_stall_is_told_again_when_there_is_something_new),
        TEST(equal_stalls_are_all_listed_and_told_ever_more_seldom),
        TEST(a_stall_of_another_function_is_told_among_equal_ones),
        TEST(a_stall_that_only_begins_as_others_did_is_told_at_its_end),
        TEST(a_window_has_what_overlaps_it_of_its_process_and_thread),
        TEST(who_follows_gets_what_changed_in_parts),
        TEST(clearing_forgets_what_has_ended),
        TEST(the_list_is_bounded_and_counts_what_it_let_go),
        TEST(a_kept_stall_has_all_its_text_and_each_word_once),
        TEST(an_ended_stall_is_a_slice_of_its_loops_thread),
        TEST(looks_from_outside_its_slice_and_who_it_waits_for_are_in_a_stall),
        TEST(what_the_program_said_is_in_a_stall),
        TEST(the_teller_tells_by_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

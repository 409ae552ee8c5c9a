/*
 * The watcher over feeds without programs: the test writes what loops would, holds the turns itself, and is the clock.
 */
#include "fake_feed.h"

#include "sampler/feed/feed_loops.h"
#include "sampler/feed/feed_reader_loops.h"
#include "sampler/profile/loops/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MS    INT64_C(1000000)
#define LOOK  (8 * MS)
#define START (1000000 * MS)

enum { PROCESS = 77, LINGER = 1000 };

struct watch {
    struct fake_feed feed;
    struct feed_reader *reader;
    struct watcher *watcher;
    struct loop_subject *subject;
    struct feed_loop *loop;
    int64_t now_ns, slept_ns, next_ns;
    int64_t stands_ns; /* we stand still for so long between two looks at clocks */
    uint32_t armed, reached, looked, ended, dismissed, highs, turns;
    struct late_dispatch last;
    struct stall_evidence evidence;
    char name[64];
    struct cpu_high high;
};

static int64_t clock_ns(void *context)
{
    return ((struct watch *)context)->now_ns;
}

static int64_t boot_clock_ns(void *context)
{
    struct watch *watch = context;
    int64_t boot_ns;

    watch->now_ns += watch->stands_ns;
    boot_ns = watch->now_ns + watch->slept_ns;
    watch->now_ns += watch->stands_ns;
    return boot_ns;
}

static void keep(struct watch *watch, const struct late_dispatch *late)
{
    watch->last = *late;
    watch->evidence = *late->evidence;
    snprintf(watch->name, sizeof(watch->name), "%s", late->name);
}

static void armed(void *context, const struct late_dispatch *late)
{
    ((struct watch *)context)->armed++;
    keep(context, late);
}

static void reached(void *context, const struct late_dispatch *late, enum stall_level level)
{
    ((struct watch *)context)->reached = level;
    keep(context, late);
}

static void looked(void *context, const struct late_dispatch *late)
{
    ((struct watch *)context)->looked++;
    keep(context, late);
}

static void ended(void *context, const struct late_dispatch *late)
{
    ((struct watch *)context)->ended++;
    keep(context, late);
}

static void dismissed(void *context, const struct late_dispatch *late)
{
    ((struct watch *)context)->dismissed++;
    keep(context, late);
}

static void cpu_high(void *context, const struct cpu_high *high)
{
    ((struct watch *)context)->highs++;
    ((struct watch *)context)->high = *high;
}

static void begin(struct watch *watch)
{
    const struct loop_reports reports = {
        watch, armed, reached, looked, ended, dismissed, cpu_high
    };
    const struct watcher_options options = { .reports = &reports,
                                             .clock_ns = clock_ns,
                                             .boot_clock_ns = boot_clock_ns,
                                             .clock_context = watch };

    memset(watch, 0, sizeof(*watch));
    watch->now_ns = START;
    fake_feed_open(&watch->feed, getpid());
    if (feed_reader_open(&watch->reader, fake_feed_memfd(&watch->feed)) < 0 ||
        watcher_new(&watch->watcher, &options) < 0)
        abort();
    watch->subject = watcher_enter(watch->watcher, watch->reader, PROCESS, 0, NULL);
    watch->next_ns = watcher_turn(watch->watcher);
}

static void end(struct watch *watch)
{
    watcher_leave(watch->subject);
    watcher_free(watch->watcher);
    feed_reader_free(watch->reader);
    fake_feed_close(&watch->feed);
}

static struct feed_loop *add_loop(struct watch *watch, const char *name)
{
    const struct feed_loop_start start = { .tid = 7,
                                           .name = feed_writer_name(&watch->feed.writer, name),
                                           .kind = FEED_LOOP_EPOLL };

    return feed_loops_begin(&watch->feed.writer, &start);
}

static struct feed_control *control(struct watch *watch)
{
    return &watch->feed.writer.header->control;
}

static void turn(struct watch *watch)
{
    watch->next_ns = watcher_turn(watch->watcher);
    watch->turns++;
}

/* What the collector's next round does: it looks whether a program calls, and wakes the thread. */
static void ring(struct watch *watch)
{
    watcher_wake(watch->watcher);
    turn(watch);
}

/* As capture does: the mark, and the bell where the service rests. */
static void begin_dispatch(struct watch *watch, struct feed_loop *loop)
{
    atomic_fetch_add(&loop->mark, 1);
    if (atomic_exchange(&control(watch)->loops_rest, 0) == 1) {
        atomic_store(&control(watch)->loops_woken_ns, watch->now_ns);
        ring(watch);
    }
}

static void end_dispatch(struct watch *watch, struct feed_loop *loop)
{
    if (atomic_load(&loop->end_asked) == atomic_load(&loop->mark))
        atomic_store(&loop->ended_ns, watch->now_ns);
    atomic_fetch_add(&loop->mark, 1);
}

/* Turns when they are due. */
static void pass(struct watch *watch, int64_t ms)
{
    int64_t until_ns = watch->now_ns + ms * MS;

    while (watch->next_ns <= until_ns) {
        watch->now_ns = watch->next_ns > watch->now_ns ? watch->next_ns : watch->now_ns;
        turn(watch);
    }
    watch->now_ns = until_ns;
}

static struct loop_info info(struct watch *watch)
{
    struct loop_info infos[4] = { { 0 } };

    assert_int_equal(watcher_loops(watch->watcher, PROCESS, infos, 4), 1);
    return infos[0];
}

static void begin_with_loop(struct watch *watch)
{
    begin(watch);
    watch->loop = add_loop(watch, "main loop");
}

static void a_stall_is_armed_reached_and_ended(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 190);
    assert_int_equal(watch.armed, 0);
    pass(&watch, 20);
    assert_int_equal(watch.armed, 1);
    assert_int_equal(watch.last.process_id, PROCESS);
    assert_int_equal(watch.last.loop, 1);
    assert_int_equal(watch.last.mark, 1);
    assert_int_equal(watch.last.tid, 7);
    assert_string_equal(watch.name, "main loop");
    assert_int_equal(watch.last.limit_ns, 250 * MS);
    assert_int_equal(watch.last.start_ns.min, START);
    assert_int_equal(watch.last.start_ns.max, START);
    pass(&watch, 90);
    assert_int_equal(watch.reached, STALL_LEVEL_STALL);
    assert_true(watch.looked >= 15);
    end_dispatch(&watch, watch.loop);
    pass(&watch, 10);
    assert_int_equal(watch.ended, 1);
    assert_int_equal(watch.last.duration_ns.min, 300 * MS);
    assert_int_equal(watch.last.duration_ns.max, 300 * MS);
    assert_int_equal(info(&watch).levels[STALL_LEVEL_STALL], 1);
    assert_int_equal(info(&watch).causes[STALL_CAUSE_UNKNOWN], 1);
    assert_int_equal(info(&watch).blocking_ns, 250 * MS);
    assert_int_equal(info(&watch).dispatches, 1);
    end(&watch);
}

static void a_long_one_is_looked_at_less_often(void **state)
{
    struct watch watch;
    uint32_t before;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 600);
    before = watch.looked;
    pass(&watch, 1000);
    assert_in_range(watch.looked - before, 18, 21);
    end(&watch);
}

static void short_dispatches_are_looked_at_half_as_often_as_long_ones(void **state)
{
    struct watch watch;
    uint32_t before;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 32);
    before = watch.turns;
    pass(&watch, 80);
    assert_int_equal(watch.turns - before, 20);
    end_dispatch(&watch, watch.loop);
    pass(&watch, 8);
    before = watch.turns;
    pass(&watch, 80);
    assert_int_equal(watch.turns - before, 10);
    end(&watch);
}

static void a_look_asks_for_the_begins_behind_it(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    end_dispatch(&watch, watch.loop);
    pass(&watch, 8);
    assert_int_equal(atomic_load(&watch.loop->note_base), 2);
    assert_int_equal(atomic_load(&watch.loop->note_from), 2);
    end(&watch);
}

static void all_that_rests_is_not_looked_at(void **state)
{
    struct watch watch;
    uint32_t before;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    end_dispatch(&watch, watch.loop);
    pass(&watch, LINGER - 100);
    assert_true(watch.next_ns <= watch.now_ns + LOOK);
    assert_int_equal(atomic_load(&control(&watch)->loops_rest), 0);
    pass(&watch, 200);
    assert_int_equal(watch.next_ns, INT64_MAX);
    assert_int_equal(atomic_load(&control(&watch)->loops_rest), 1);
    before = watch.turns;
    pass(&watch, 3600 * 1000);
    watcher_wake(watch.watcher);
    watcher_round(watch.subject);
    assert_int_equal(watch.turns, before);
    begin_dispatch(&watch, watch.loop);
    assert_int_equal(watch.next_ns, watch.now_ns + LOOK);
    end(&watch);
}

static void a_program_without_loops_is_at_rest_at_once(void **state)
{
    struct watch watch;

    (void)state;
    begin(&watch);
    assert_int_equal(watch.next_ns, INT64_MAX);
    assert_int_equal(atomic_load(&control(&watch)->loops_rest), 1);
    end(&watch);
}

/* Its processor had not written the mark yet when the watcher looked; and so it did not ring. */
static void a_dispatch_that_began_with_the_rest_is_found_by_the_look_behind(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    end_dispatch(&watch, watch.loop);
    while (!atomic_load(&control(&watch)->loops_rest))
        pass(&watch, 1);
    assert_int_not_equal(watch.next_ns, INT64_MAX);
    atomic_fetch_add(&watch.loop->mark, 1);
    pass(&watch, 300);
    assert_int_equal(watch.armed, 1);
    assert_int_equal(watch.reached, STALL_LEVEL_STALL);
    end(&watch);
}

static void a_loop_that_nobody_wants_watched_is_heard_once_a_second(void **state)
{
    struct stall_settings settings = { .names = "other*" };
    struct watch watch;
    uint32_t before;

    (void)state;
    begin_with_loop(&watch);
    watcher_apply(watch.watcher, &settings);
    begin_dispatch(&watch, watch.loop);
    before = watch.turns;
    for (int i = 0; i < 10000; i++) {
        end_dispatch(&watch, watch.loop);
        pass(&watch, 1);
        begin_dispatch(&watch, watch.loop);
    }
    assert_in_range(watch.turns - before, 5, 40);
    pass(&watch, 1000);
    assert_int_equal(watch.armed, 0);
    assert_false(info(&watch).watched);
    end(&watch);
}

static void names_choose_what_is_watched(void **state)
{
    struct stall_settings settings = { .names = "render, main*" };
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    watcher_apply(watch.watcher, &settings);
    begin_dispatch(&watch, watch.loop);
    assert_true(info(&watch).watched);
    pass(&watch, 300);
    assert_int_equal(watch.armed, 1);
    strcpy(settings.names, "render");
    watcher_apply(watch.watcher, &settings);
    assert_int_equal(watch.dismissed, 1);
    assert_false(info(&watch).watched);
    end(&watch);
}

static void settings_reach_programs_that_are_there_and_those_to_come(void **state)
{
    const struct stall_settings settings = { .watch = FEED_WATCH_ALL,
                                             .limits_ms = { 100, 20, 0, 7 } };
    CLEANUP(fake_feed_close) struct fake_feed other;
    struct loop_subject *subject;
    struct feed_reader *reader;
    struct stall_settings told;
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    watcher_apply(watch.watcher, &settings);
    assert_int_equal(atomic_load(&control(&watch)->watch_loops), FEED_WATCH_ALL);
    told = watcher_settings(watch.watcher);
    assert_int_equal(told.limits_ms[STALL_LEVEL_JANK], 100);
    assert_int_equal(told.limits_ms[STALL_LEVEL_STALL], 100);
    assert_int_equal(told.limits_ms[STALL_LEVEL_HANG], 2000);
    assert_int_equal(told.limits_ms[STALL_LEVEL_DEAD], 2000);
    fake_feed_open(&other, 1);
    assert_int_equal(feed_reader_open(&reader, fake_feed_memfd(&other)), 0);
    subject = watcher_enter(watch.watcher, reader, 78, 0, NULL);
    assert_int_equal(atomic_load(&other.writer.header->control.watch_loops), FEED_WATCH_ALL);
    watcher_leave(subject);
    feed_reader_free(reader);
    end(&watch);
}

static void the_watcher_was_late_itself(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 100);
    watch.now_ns += 400 * MS;
    turn(&watch);
    assert_int_equal(watch.armed, 1);
    assert_in_range(watch.evidence.host_late_ns, 390 * MS, 400 * MS);
    end_dispatch(&watch, watch.loop);
    pass(&watch, 10);
    assert_int_equal(watch.ended, 1);
    /* The next dispatch is not to blame for it. */
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 300);
    assert_int_equal(watch.armed, 2);
    assert_int_equal(watch.evidence.host_late_ns, 0);
    end(&watch);
}

static void a_machine_that_slept_makes_no_stall(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 220);
    assert_int_equal(watch.armed, 1);
    watch.slept_ns += 3600 * 1000 * MS;
    pass(&watch, 100);
    assert_int_equal(watch.dismissed, 1);
    assert_int_equal(watch.reached, 0);
    assert_int_equal(info(&watch).dismissed, 1);
    end_dispatch(&watch, watch.loop);
    pass(&watch, 100);
    assert_int_equal(watch.ended, 0);
    end(&watch);
}

static void standing_still_between_two_clocks_is_no_sleep(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 220);
    assert_int_equal(watch.armed, 1);
    watch.stands_ns = 3000 * MS;
    turn(&watch);
    watch.stands_ns = 0;
    turn(&watch);
    pass(&watch, 100);
    assert_int_equal(watch.dismissed, 0);
    assert_int_equal(watch.reached, STALL_LEVEL_DEAD);
    end(&watch);
}

static void a_watcher_that_was_away_for_long_begins_anew(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 220);
    watch.now_ns += 15000 * MS;
    turn(&watch);
    assert_int_equal(watch.dismissed, 1);
    assert_int_equal(watch.reached, 0);
    /* One that hangs on is found. */
    pass(&watch, 300);
    assert_int_equal(watch.armed, 2);
    assert_int_equal(watch.reached, STALL_LEVEL_STALL);
    end(&watch);
}

static void what_is_late_when_its_program_ends_has_ended(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 300);
    watcher_leave(watch.subject);
    watch.subject = NULL;
    assert_int_equal(watch.ended, 1);
    assert_true(info(&watch).ended);
    assert_false(info(&watch).busy);
    end(&watch);
}

static void below_its_limit_it_is_dismissed_when_its_program_ends(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 220);
    watcher_leave(watch.subject);
    watch.subject = NULL;
    assert_int_equal(watch.ended, 0);
    assert_int_equal(watch.dismissed, 1);
    end(&watch);
}

static void an_ended_loop_is_kept_and_its_entry_given_back(void **state)
{
    struct loop_info infos[2];
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    end_dispatch(&watch, watch.loop);
    feed_loops_end(watch.loop);
    pass(&watch, 10);
    assert_int_equal(atomic_load(&watch.loop->state), FEED_LOOP_FREE);
    assert_ptr_equal(add_loop(&watch, "second"), watch.loop);
    ring(&watch);
    assert_int_equal(watcher_loops(watch.watcher, 0, infos, 2), 2);
    assert_true(infos[0].ended);
    assert_int_equal(infos[0].dispatches, 1);
    assert_false(infos[1].ended);
    assert_string_equal(infos[1].name, "second");
    assert_int_equal(watcher_loops(watch.watcher, PROCESS + 1, infos, 2), 0);
    end(&watch);
}

static void a_loop_that_comes_while_all_rest_is_met_by_the_next_round(void **state)
{
    struct loop_info infos[2];
    struct watch watch;

    (void)state;
    begin(&watch);
    add_loop(&watch, "new");
    assert_int_equal(watcher_loops(watch.watcher, 0, infos, 2), 0);
    ring(&watch);
    assert_int_equal(watcher_loops(watch.watcher, 0, infos, 2), 1);
    end(&watch);
}

static void counts_begin_anew_when_they_are_cleared(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_loop(&watch);
    begin_dispatch(&watch, watch.loop);
    pass(&watch, 300);
    end_dispatch(&watch, watch.loop);
    pass(&watch, 10);
    watcher_clear(watch.watcher, PROCESS + 1);
    assert_int_equal(info(&watch).dispatches, 1);
    watcher_clear(watch.watcher, PROCESS);
    assert_int_equal(info(&watch).dispatches, 0);
    assert_int_equal(info(&watch).levels[STALL_LEVEL_STALL], 0);
    end(&watch);
}

/* The loop's thread is this one: it runs whenever somebody looks. */
static void begin_with_pings(struct watch *watch)
{
    const struct feed_loop_start start = { .tid = (int32_t)getpid(), .kind = FEED_LOOP_REGISTERED };

    begin(watch);
    watcher_leave(watch->subject);
    watch->subject = watcher_enter(watch->watcher, watch->reader, PROCESS, getpid(), NULL);
    watch->loop = feed_loops_begin(&watch->feed.writer, &start);
    atomic_store(&watch->loop->has_ping, 1);
    ring(watch);
}

static void burn(void)
{
    int64_t before_ns = 0, now_ns = 0;
    struct timespec now;

    for (; now_ns - before_ns < 3 * MS; before_ns = before_ns ? before_ns : now_ns) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        now_ns = (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
    }
}

/* Runs until the watcher asks. */
static void await_ping(struct watch *watch)
{
    uint32_t before = atomic_load(&watch->loop->ping_asked);

    for (int i = 0; i < 100 && atomic_load(&watch->loop->ping_asked) == before; i++) {
        burn();
        pass(watch, 60);
        watcher_round(watch->subject);
        turn(watch);
    }
    assert_int_equal(atomic_load(&watch->loop->ping_asked), before + 1);
}

static void a_ping_that_is_not_answered_is_a_stall(void **state)
{
    struct watch watch;

    (void)state;
    begin_with_pings(&watch);
    await_ping(&watch);
    /* The program's own thread has not handed it over: that is no fault of the loop's. */
    pass(&watch, 1000);
    assert_int_equal(watch.armed, 0);
    atomic_store(&watch.loop->ping_posted, atomic_load(&watch.loop->ping_asked));
    pass(&watch, 300);
    assert_int_equal(watch.armed, 1);
    assert_int_equal(watch.reached, STALL_LEVEL_STALL);
    atomic_store(&watch.loop->ping_seen, atomic_load(&watch.loop->ping_asked));
    pass(&watch, 10);
    assert_int_equal(watch.ended, 1);
    assert_int_equal(info(&watch).dispatches, 0);
    assert_int_equal(info(&watch).delay.count, 1);
    assert_in_range(info(&watch).delay.sum_ns, 290 * MS, 310 * MS);
    end(&watch);
}

static void a_loop_that_tells_its_dispatches_is_not_pinged_any_more(void **state)
{
    struct watch watch;
    uint32_t asked;

    (void)state;
    begin_with_pings(&watch);
    await_ping(&watch);
    asked = atomic_load(&watch.loop->ping_asked);
    begin_dispatch(&watch, watch.loop);
    end_dispatch(&watch, watch.loop);
    for (int i = 0; i < 10; i++) {
        burn();
        pass(&watch, 60);
        watcher_round(watch.subject);
        turn(&watch);
    }
    assert_int_equal(atomic_load(&watch.loop->ping_asked), asked);
    assert_int_equal(watch.armed, 0);
    end(&watch);
}

static void a_feed_full_of_nonsense_harms_nobody(void **state)
{
    struct watch watch;
    uint32_t random = 1;

    (void)state;
    begin_with_loop(&watch);
    for (int i = 0; i < 2000; i++) {
        uint8_t *bytes = (uint8_t *)watch.feed.writer.loops;

        for (int j = 0; j < 200; j++) {
            random = random * 1664525 + 1013904223;
            bytes[random % (FEED_LOOPS_MAX * sizeof(struct feed_loop))] = (uint8_t)(random >> 24);
        }
        atomic_store(&watch.feed.writer.header->status.loops_used, random);
        atomic_store(&watch.loop->mark, i);
        watch.now_ns += LOOK;
        turn(&watch);
    }
    end(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stall_is_armed_reached_and_ended),
        cmocka_unit_test(a_long_one_is_looked_at_less_often),
        cmocka_unit_test(short_dispatches_are_looked_at_half_as_often_as_long_ones),
        cmocka_unit_test(a_look_asks_for_the_begins_behind_it),
        cmocka_unit_test(all_that_rests_is_not_looked_at),
        cmocka_unit_test(a_program_without_loops_is_at_rest_at_once),
        cmocka_unit_test(a_dispatch_that_began_with_the_rest_is_found_by_the_look_behind),
        cmocka_unit_test(a_loop_that_nobody_wants_watched_is_heard_once_a_second),
        cmocka_unit_test(names_choose_what_is_watched),
        cmocka_unit_test(settings_reach_programs_that_are_there_and_those_to_come),
        cmocka_unit_test(the_watcher_was_late_itself),
        cmocka_unit_test(a_machine_that_slept_makes_no_stall),
        cmocka_unit_test(standing_still_between_two_clocks_is_no_sleep),
        cmocka_unit_test(a_watcher_that_was_away_for_long_begins_anew),
        cmocka_unit_test(what_is_late_when_its_program_ends_has_ended),
        cmocka_unit_test(below_its_limit_it_is_dismissed_when_its_program_ends),
        cmocka_unit_test(an_ended_loop_is_kept_and_its_entry_given_back),
        cmocka_unit_test(a_loop_that_comes_while_all_rest_is_met_by_the_next_round),
        cmocka_unit_test(counts_begin_anew_when_they_are_cleared),
        cmocka_unit_test(a_ping_that_is_not_answered_is_a_stall),
        cmocka_unit_test(a_loop_that_tells_its_dispatches_is_not_pinged_any_more),
        cmocka_unit_test(a_feed_full_of_nonsense_harms_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A loop by script: what it did at any moment is known, and so is what looks make of it.
 */
#include "sampler/profile/loops/loop_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS    INT64_C(1000000)
#define LOOK  (4 * MS)
#define START (1000 * MS)

enum { DISPATCHES_MAX = 64 };

struct dispatch {
    int64_t at_ns, for_ns;
};

/* The loop, who looks at it, and what was found. */
struct script {
    const struct dispatch *dispatches;
    size_t count;
    int64_t progress_ns; /* one, then; 0: none */
    int64_t woken_ns;
    bool alone;
    uint64_t noted_mark;
    int64_t noted_ns;
    int64_t wrong_end_ns; /* what it says of its ends instead of the truth; 0: the truth */

    struct loop_watch watch;
    struct loop_limits limits;
    uint64_t asked;
    int64_t ended_ns, now_ns;
    uint32_t armed, ended, reached[STALL_LEVEL_COUNT];
    uint64_t finished, shorts;
    int64_t shorts_ns, armed_ns;
    struct loop_news last;
};

static struct script script_of(const struct dispatch *dispatches, size_t count)
{
    static const uint32_t usual[STALL_LEVEL_COUNT];

    return (struct script){ .dispatches = dispatches,
                            .count = count,
                            .limits = loop_limits_of(usual, usual),
                            .now_ns = START - 10 * LOOK };
}

/* A dispatch is on from at_ns to right before at_ns + for_ns. */
static uint64_t mark_at(struct script *script, int64_t now_ns)
{
    uint64_t mark = 0;

    for (size_t i = 0; i < script->count; i++) {
        int64_t end_ns = script->dispatches[i].at_ns + script->dispatches[i].for_ns;

        mark += now_ns >= script->dispatches[i].at_ns;
        mark += now_ns >= end_ns;
        if (now_ns >= end_ns && script->asked == 2 * i + 1)
            script->ended_ns = script->wrong_end_ns ? script->wrong_end_ns : end_ns;
    }
    return mark;
}

static void take_step(struct script *script, enum loop_step step, const struct loop_news *news)
{
    if (step == LOOP_ASK_END)
        script->asked = news->stretch.mark;
    if (step == LOOP_ARMED) {
        script->armed++;
        script->armed_ns = script->now_ns;
    }
    if (step == LOOP_REACHED)
        script->reached[news->level]++;
    if (step == LOOP_ENDED) {
        script->ended++;
        script->last = *news;
    }
}

static void look(struct script *script, int64_t now_ns)
{
    struct loop_look words = { .before_ns = now_ns, .after_ns = now_ns };
    struct loop_shorts shorts;
    struct loop_news news;
    enum loop_step step;

    script->now_ns = now_ns;
    words.mark = mark_at(script, now_ns);
    words.progress = script->progress_ns && now_ns >= script->progress_ns;
    words.ended_ns = script->ended_ns;
    words.noted_mark = script->noted_mark;
    words.noted_ns = script->noted_ns;
    words.woken_ns = script->woken_ns <= now_ns ? script->woken_ns : 0;
    words.alone = script->alone;
    loop_watch_look(&script->watch, &words);
    while ((step = loop_watch_step(&script->watch, &script->limits, &news)) != LOOP_NOTHING)
        take_step(script, step, &news);
    shorts = loop_watch_take(&script->watch);
    script->finished += shorts.dispatches;
    script->shorts += shorts.shorts;
    script->shorts_ns += shorts.shorts_ns;
}

static void look_until(struct script *script, int64_t until_ns, int64_t every_ns)
{
    while (script->now_ns + every_ns <= until_ns)
        look(script, script->now_ns + every_ns);
}

static int64_t middle(struct stall_range range)
{
    return (range.min + range.max) / 2;
}

static enum stall_level level_for(int64_t ms)
{
    if (ms < 50)
        return STALL_LEVEL_COUNT;
    if (ms < 250)
        return STALL_LEVEL_JANK;
    if (ms < 2000)
        return STALL_LEVEL_STALL;
    return ms < 5000 ? STALL_LEVEL_HANG : STALL_LEVEL_DEAD;
}

static void look_at_one_of(int64_t ms, int64_t phase_ns)
{
    const struct dispatch one = { START + phase_ns, ms * MS };
    struct script script = script_of(&one, 1);
    enum stall_level level = level_for(ms);

    look_until(&script, START + (ms + 20) * MS, LOOK);
    assert_int_equal(script.finished, 1);
    assert_int_equal(script.ended, 1);
    assert_int_equal(script.last.level, level);
    assert_true(script.last.whole);
    for (int i = STALL_LEVEL_STALL; i < STALL_LEVEL_COUNT; i++)
        assert_int_equal(script.reached[i], level != STALL_LEVEL_COUNT && (int)level >= i);
    assert_int_equal(script.armed, ms >= 240);
    assert_true(script.last.stretch.took_ns.min <= ms * MS);
    assert_true(script.last.stretch.took_ns.max >= ms * MS);
    if (ms >= 60)
        assert_in_range(middle(script.last.stretch.took_ns), (ms - 2) * MS, (ms + 2) * MS);
}

static void stalls_are_found_by_their_limits_within_two_milliseconds(void **state)
{
    static const int64_t lengths[] = { 30, 60, 240, 260, 1900, 2100, 6000 };

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        for (int64_t phase = 0; phase < LOOK; phase += MS / 4)
            look_at_one_of(lengths[i], phase);
}

/* The second of two dispatches between looks, with a note; what its begin is known to be. */
static struct stall_range begin_with_note(uint64_t mark, int64_t at_ns)
{
    const struct dispatch both[] = { { START + 1 * MS, MS }, { START + 5 * MS, 100 * MS } };
    struct script script = script_of(both, 2);

    look(&script, START);
    script.noted_mark = mark;
    script.noted_ns = at_ns;
    look(&script, START + 8 * MS);
    assert_true(loop_watch_busy(&script.watch));
    return script.watch.open.start_ns;
}

static void assert_began(struct stall_range range, int64_t min_ns, int64_t max_ns)
{
    assert_int_equal(range.min, START + min_ns);
    assert_int_equal(range.max, START + max_ns);
}

static void a_begin_is_as_it_was_noted(void **state)
{
    (void)state;
    assert_began(begin_with_note(3, START + 5 * MS), 5 * MS, 5 * MS);
}

static void a_begin_lies_behind_an_earlier_one_that_was_noted(void **state)
{
    (void)state;
    assert_began(begin_with_note(1, START + 1 * MS), 1 * MS, 8 * MS);
}

static void a_note_that_cannot_be_is_not_believed(void **state)
{
    (void)state;
    assert_began(begin_with_note(0, 0), 0, 8 * MS);
    assert_began(begin_with_note(5, START + 5 * MS), 0, 8 * MS);
    assert_began(begin_with_note(3, START - 1), 0, 8 * MS);
    assert_began(begin_with_note(3, START + 9 * MS), 0, 8 * MS);
}

/* What the note says changes no count: a dispatch that one look met is short all the same. */
static void one_that_was_noted_and_met_once_is_counted_as_short(void **state)
{
    const struct dispatch one = { START + 1 * MS, 8 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look(&script, START);
    script.noted_mark = 1;
    script.noted_ns = START + 1 * MS;
    look(&script, START + 8 * MS);
    look(&script, START + 16 * MS);
    assert_int_equal(script.shorts, 1);
    assert_int_equal(script.shorts_ns, 8 * MS);
}

static void it_is_armed_at_four_fifths_of_the_limit(void **state)
{
    const struct dispatch one = { START + 1, 300 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look_until(&script, START + 400 * MS, LOOK);
    assert_in_range(script.armed_ns - START, 200 * MS, 208 * MS);
}

static void the_first_dispatch_after_a_rest_begins_when_it_rang(void **state)
{
    const struct dispatch one = { START, 300 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look(&script, START - 50 * LOOK);
    loop_watch_rests(&script.watch);
    script.woken_ns = START;
    script.alone = true;
    look(&script, START + MS / 10);
    look_until(&script, START + 400 * MS, LOOK);
    assert_int_equal(script.last.stretch.start_ns.min, START);
    assert_int_equal(script.last.stretch.start_ns.max, START);
    assert_int_equal(script.last.stretch.took_ns.min, 300 * MS);
    assert_int_equal(script.last.stretch.took_ns.max, 300 * MS);
}

static void with_other_loops_awake_it_began_after_the_ring(void **state)
{
    const struct dispatch one = { START + 2 * MS, 300 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look(&script, START - 50 * LOOK);
    loop_watch_rests(&script.watch);
    script.woken_ns = START;
    look(&script, START + 3 * MS);
    look_until(&script, START + 400 * MS, LOOK);
    assert_int_equal(script.last.stretch.start_ns.min, START);
    assert_int_equal(script.last.stretch.start_ns.max, START + 3 * MS);
}

/* Nobody looked for a second, in which it began: that it is late is not certain yet. */
static void a_gap_between_looks_makes_no_stall(void **state)
{
    const struct dispatch one = { START + 990 * MS, 100 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look(&script, START);
    look(&script, START + 1000 * MS);
    look_until(&script, START + 1200 * MS, LOOK);
    assert_int_equal(script.armed, 0);
    assert_int_equal(script.ended, 1);
    assert_true(script.last.stretch.took_ns.min <= 100 * MS);
    assert_true(script.last.stretch.took_ns.max >= 100 * MS);
}

static void a_stall_that_ends_while_nobody_looks_is_told_all_the_same(void **state)
{
    const struct dispatch one = { START, 3000 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look_until(&script, START + 100 * MS, LOOK);
    assert_int_equal(script.armed, 0);
    look(&script, START + 3500 * MS);
    assert_int_equal(script.armed, 1);
    assert_int_equal(script.reached[STALL_LEVEL_STALL], 1);
    assert_int_equal(script.reached[STALL_LEVEL_HANG], 1);
    assert_int_equal(script.ended, 1);
    assert_in_range(middle(script.last.stretch.took_ns), 2998 * MS, 3002 * MS);
}

static void a_progress_makes_limits_count_anew(void **state)
{
    const struct dispatch one = { START, 400 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    script.progress_ns = START + 190 * MS;
    look_until(&script, START + 500 * MS, LOOK);
    assert_int_equal(script.ended, 2);
    assert_int_equal(script.reached[STALL_LEVEL_STALL], 0);
    assert_in_range(middle(script.last.stretch.took_ns), 208 * MS, 212 * MS);
    assert_true(script.last.whole);
    assert_in_range(middle(script.last.dispatch_ns), 398 * MS, 402 * MS);
}

static void a_progress_ends_a_stall(void **state)
{
    const struct dispatch one = { START, 600 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    script.progress_ns = START + 300 * MS;
    look_until(&script, START + 400 * MS, LOOK);
    assert_int_equal(script.ended, 1);
    assert_false(script.last.whole);
    assert_int_equal(script.last.level, STALL_LEVEL_STALL);
    look_until(&script, START + 700 * MS, LOOK);
    assert_int_equal(script.reached[STALL_LEVEL_STALL], 2);
}

/* As an end of the dispatch it is worth as much as none. */
static void an_end_that_cannot_be_is_not_believed(void **state)
{
    static const int64_t lies[] = { 1, START - 1, START + 100 * MS, INT64_MAX, INT64_MIN };
    const struct dispatch one = { START, 300 * MS };

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct script script = script_of(&one, 1);

        script.wrong_end_ns = lies[i];
        look_until(&script, START + 400 * MS, LOOK);
        assert_int_equal(script.ended, 1);
        assert_in_range(middle(script.last.stretch.took_ns), 295 * MS, 305 * MS);
    }
}

static void short_ones_are_counted_and_their_sum_is_right(void **state)
{
    /* Each 5 ms one of 1 ms: of looks each 4 ms one in five meets one. */
    struct dispatch many[DISPATCHES_MAX] = { { 0 } };
    struct script script = script_of(many, DISPATCHES_MAX);

    (void)state;
    for (int i = 0; i < DISPATCHES_MAX; i++)
        many[i] = (struct dispatch){ START + i * 5 * MS, MS };
    look_until(&script, START + DISPATCHES_MAX * 5 * MS, LOOK);
    assert_int_equal(script.finished, DISPATCHES_MAX);
    assert_int_equal(script.shorts, DISPATCHES_MAX);
    assert_in_range(script.shorts_ns, DISPATCHES_MAX * MS * 8 / 10, DISPATCHES_MAX * MS * 12 / 10);
    assert_int_equal(script.ended, 0);
}

static void one_after_the_other_are_different_ones(void **state)
{
    const struct dispatch two[] = { { START, 100 * MS }, { START + 100 * MS, 240 * MS } };
    struct script script = script_of(two, 2);

    (void)state;
    look_until(&script, START + 400 * MS, LOOK);
    assert_int_equal(script.ended, 2);
    assert_int_equal(script.reached[STALL_LEVEL_STALL], 0);
    assert_in_range(middle(script.last.stretch.took_ns), 238 * MS, 242 * MS);
}

static void feed_mark(struct loop_watch *watch, uint64_t mark, int64_t now_ns)
{
    const struct loop_look words = { .before_ns = now_ns, .after_ns = now_ns, .mark = mark };

    loop_watch_look(watch, &words);
}

static void marks_that_nobody_made_begin_anew(void **state)
{
    static const uint64_t marks[] = { 7, 3, UINT64_MAX, 0, UINT64_MAX - 1, 5, 1 };
    struct loop_watch watch = { 0 };
    static const uint32_t usual[STALL_LEVEL_COUNT];
    const struct loop_limits limits = loop_limits_of(usual, usual);
    struct loop_news news;

    (void)state;
    for (int i = 0; i < 70; i++) {
        feed_mark(&watch, marks[i % 7], START + i * LOOK);
        assert_int_equal(loop_watch_step(&watch, &limits, &news), LOOP_NOTHING);
        assert_in_range(loop_watch_take(&watch).dispatches, 0, LOOK);
    }
}

static void after_a_reset_limits_count_from_there(void **state)
{
    const struct dispatch one = { START, 10000 * MS };
    struct script script = script_of(&one, 1);

    (void)state;
    look_until(&script, START + 300 * MS, LOOK);
    assert_int_equal(script.reached[STALL_LEVEL_STALL], 1);
    loop_watch_reset(&script.watch, START + 1000 * MS);
    script.now_ns = START + 1000 * MS;
    look_until(&script, START + 1190 * MS, LOOK);
    assert_int_equal(script.armed, 1);
    look_until(&script, START + 1300 * MS, LOOK);
    assert_int_equal(script.armed, 2);
    assert_int_equal(script.reached[STALL_LEVEL_STALL], 2);
}

static void what_is_open_ends_with_its_program(void **state)
{
    const struct dispatch one = { START, 10000 * MS };
    struct script script = script_of(&one, 1);
    struct loop_news news;

    (void)state;
    look_until(&script, START + 300 * MS, LOOK);
    loop_watch_close(&script.watch, START + 310 * MS);
    assert_int_equal(loop_watch_step(&script.watch, &script.limits, &news), LOOP_ENDED);
    assert_int_equal(news.level, STALL_LEVEL_STALL);
    assert_true(news.stretch.took_ns.max >= 310 * MS);
    assert_int_equal(loop_watch_step(&script.watch, &script.limits, &news), LOOP_NOTHING);
    assert_false(loop_watch_busy(&script.watch));
}

static void own_limits_win_and_grow(void **state)
{
    static const uint32_t service[STALL_LEVEL_COUNT] = { 10, 0, 100, UINT32_MAX };
    static const uint32_t own[STALL_LEVEL_COUNT] = { 0, 300, 0, 0 };
    struct loop_limits limits = loop_limits_of(service, own);

    (void)state;
    assert_int_equal(limits.ns[STALL_LEVEL_JANK], 10 * MS);
    assert_int_equal(limits.ns[STALL_LEVEL_STALL], 300 * MS);
    assert_int_equal(limits.ns[STALL_LEVEL_HANG], 300 * MS);
    assert_int_equal(limits.ns[STALL_LEVEL_DEAD], 24 * 3600 * 1000 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls_are_found_by_their_limits_within_two_milliseconds),
        cmocka_unit_test(a_begin_is_as_it_was_noted),
        cmocka_unit_test(a_begin_lies_behind_an_earlier_one_that_was_noted),
        cmocka_unit_test(a_note_that_cannot_be_is_not_believed),
        cmocka_unit_test(one_that_was_noted_and_met_once_is_counted_as_short),
        cmocka_unit_test(it_is_armed_at_four_fifths_of_the_limit),
        cmocka_unit_test(the_first_dispatch_after_a_rest_begins_when_it_rang),
        cmocka_unit_test(with_other_loops_awake_it_began_after_the_ring),
        cmocka_unit_test(a_gap_between_looks_makes_no_stall),
        cmocka_unit_test(a_stall_that_ends_while_nobody_looks_is_told_all_the_same),
        cmocka_unit_test(a_progress_makes_limits_count_anew),
        cmocka_unit_test(a_progress_ends_a_stall),
        cmocka_unit_test(an_end_that_cannot_be_is_not_believed),
        cmocka_unit_test(short_ones_are_counted_and_their_sum_is_right),
        cmocka_unit_test(one_after_the_other_are_different_ones),
        cmocka_unit_test(marks_that_nobody_made_begin_anew),
        cmocka_unit_test(after_a_reset_limits_count_from_there),
        cmocka_unit_test(what_is_open_ends_with_its_program),
        cmocka_unit_test(own_limits_win_and_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "sampler/profile/stalls/culprit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    MAIN,
    LOOP,
    A,
    B,
    C,
    D,
    MEMCPY,
    EVAL,
    START,
    RUN,
    STEP,
    PARSE,
    HANDLER,
    HELPER,
    EXTENSION,
    FUNCTIONS
};
enum { MS = 1000000, STACKS_MAX = 4096 };

static const struct culprit_function functions[FUNCTIONS] = {
    [MAIN] = { .id = 100, .own = true },
    [LOOP] = { .id = 101, .own = true },
    [A] = { .id = 102, .own = true },
    [B] = { .id = 103, .own = true },
    [C] = { .id = 104, .own = true },
    [D] = { .id = 105, .own = true },
    [MEMCPY] = { .id = 106 },
    /* A program that an interpreter runs: its native code, and functions of the user's own and others'. */
    [EVAL] = { .id = 107, .own = true, .native = true },
    [START] = { .id = 108, .own = true, .script = true },
    [RUN] = { .id = 109, .script = true, .loop = true },
    [STEP] = { .id = 110, .script = true },
    [PARSE] = { .id = 111, .script = true },
    [HANDLER] = { .id = 112, .own = true, .script = true },
    [HELPER] = { .id = 113, .own = true, .script = true },
    [EXTENSION] = { .id = 114, .own = true },
};

/* Samples one after the other; each has its own stack. */
struct story {
    struct culprit_sample samples[STACKS_MAX];
    struct culprit_stack stacks[STACKS_MAX];
    struct culprit_frame frames[STACKS_MAX][8];
    uint32_t count;
};

static int open_story(void **state)
{
    *state = calloc(1, sizeof(struct story));
    return *state ? 0 : -1;
}

static int close_story(void **state)
{
    free(*state);
    return 0;
}

/* Leaf first, as functions; each sample lasts until the next one. */
#define SEE(story, at_ms, ...)                                                                     \
    see(story, at_ms, (const uint32_t[]){ __VA_ARGS__ },                                           \
        sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static struct culprit_stack *see(struct story *story, int64_t at_ms, const uint32_t *stack,
                                 uint32_t depth)
{
    uint32_t number = story->count++;

    assert_true(number < STACKS_MAX && depth <= 8);
    for (uint32_t i = 0; i < depth; i++)
        story->frames[number][i] = (struct culprit_frame){ stack[i], 10 * stack[i] };
    story->stacks[number] = (struct culprit_stack){ story->frames[number], depth, true, 0 };
    story->stacks[number].top = culprit_top(functions, &story->stacks[number]);
    story->samples[number] = (struct culprit_sample){ at_ms * MS, INT64_MAX, number, 0 };
    return &story->stacks[number];
}

static struct culprit find(const struct story *story, int64_t end_ms)
{
    struct culprit culprit;
    const struct culprit_case facts = { .samples = story->samples,
                                        .count = story->count,
                                        .stacks = story->stacks,
                                        .functions = functions,
                                        .end_ns = end_ms * MS };

    assert_true(culprit_find(&facts, &culprit));
    return culprit;
}

/* Every step_ms from begin_ms on, before end_ms. */
static void see_for(struct story *story, int64_t begin_ms, int64_t end_ms, int64_t step_ms,
                    uint32_t function)
{
    for (int64_t at_ms = begin_ms; at_ms < end_ms; at_ms += step_ms)
        SEE(story, at_ms, function, LOOP, MAIN);
}

static void no_samples_have_no_culprit(void **state)
{
    struct culprit culprit;

    (void)state;
    assert_false(culprit_find(&(struct culprit_case){ 0 }, &culprit));
}

static void one_sample_is_the_culprit(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    SEE(story, 200, MEMCPY, B, LOOP, MAIN);
    culprit = find(story, 260);
    assert_int_equal(culprit.longest.function, MEMCPY);
    assert_int_equal(culprit.longest.known_ns, 60 * MS);
    assert_int_equal(culprit.looks, 1);
    assert_int_equal(culprit.run_count, 1);
    assert_int_equal(culprit.prefix_count, 4);
    assert_int_equal(culprit.prefix[0], MAIN);
    assert_true(culprit.has_caller);
    assert_int_equal(culprit.caller.function, B);
    assert_int_equal(culprit.caller.line, 10 * B);
}

static void the_longest_of_four_is_the_culprit_though_another_runs_at_the_end(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    see_for(story, 0, 50, 1, A);
    see_for(story, 50, 200, 1, B);
    see_for(story, 200, 240, 1, C);
    see_for(story, 240, 260, 1, D);
    culprit = find(story, 260);
    assert_int_equal(culprit.longest.function, B);
    assert_int_equal(culprit.longest.known_ns, 150 * MS);
    assert_int_equal(culprit.looks, 150);
    assert_int_equal(culprit.run_count, 4);
    assert_int_equal(culprit.runs[0].function, A);
    assert_int_equal(culprit.runs[3].function, D);
    assert_int_equal(culprit.runs[2].from_ns, 200 * MS);
    assert_int_equal(culprit.runs[2].to_ns, 240 * MS);
    assert_int_equal(culprit.prefix_count, 2);
}

/* Of 40 looks, 5 ms apart, foo has 32, bar 6 and baz 2: foo did it, with 160 ms of 200. */
static void thirty_two_of_forty_looks_are_a_hundred_and_sixty_milliseconds(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    see_for(story, 0, 30, 5, B);
    see_for(story, 30, 190, 5, A);
    see_for(story, 190, 200, 5, C);
    culprit = find(story, 200);
    assert_int_equal(culprit.longest.function, A);
    assert_int_equal(culprit.longest.known_ns, 160 * MS);
    assert_int_equal(culprit.looks, 32);
    assert_int_equal(culprit.runs[0].looks, 6);
    assert_int_equal(culprit.runs[2].looks, 2);
}

/* A function is on top wherever in its code it is: the line does not matter. */
static void two_places_in_one_function_are_one_culprit(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    for (int i = 0; i < 20; i++) {
        SEE(story, 5 * i, B, LOOP, MAIN);
        story->frames[i][0].line = i % 2 ? 7 : 8;
    }
    see_for(story, 100, 110, 5, C);
    culprit = find(story, 110);
    assert_int_equal(culprit.longest.function, B);
    assert_int_equal(culprit.longest.looks, 20);
    assert_int_equal(culprit.run_count, 2);
}

static void of_equal_runs_the_latest_is_the_culprit(void **state)
{
    struct story *story = *state;

    see_for(story, 0, 100, 5, A);
    see_for(story, 100, 110, 5, C);
    see_for(story, 110, 207, 5, B); /* shorter by less than a look */
    assert_int_equal(find(story, 207).longest.function, B);
}

static void a_run_shorter_by_more_than_a_look_is_not(void **state)
{
    struct story *story = *state;

    see_for(story, 0, 100, 5, A);
    see_for(story, 100, 192, 5, B);
    assert_int_equal(find(story, 192).longest.function, A);
}

/* Three looks 50 ms apart say more than a hundred ticks of a millisecond. */
static void samples_weigh_by_the_time_that_they_stand_for(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    see_for(story, 0, 100, 1, A);
    see_for(story, 100, 120, 5, B);
    see_for(story, 120, 270, 50, C);
    culprit = find(story, 270);
    assert_int_equal(culprit.longest.function, C);
    assert_int_equal(culprit.longest.known_ns, 150 * MS);
    assert_int_equal(culprit.longest.looks, 3);
}

/* A tick of a running thread says nothing of 200 ms in which nobody looked. */
static void a_tick_stands_for_no_more_than_it_may(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    SEE(story, 0, A, LOOP, MAIN);
    story->samples[0].lasts_ns = 10 * MS;
    see_for(story, 200, 260, 5, B);
    culprit = find(story, 260);
    assert_int_equal(culprit.longest.function, B);
    assert_int_equal(culprit.runs[0].to_ns, 10 * MS);
    assert_int_equal(culprit.runs[1].from_ns, 200 * MS);
}

/* That what it calls ends in the interpreter or the system is no news to who wrote it. */
static void of_an_interpreted_program_it_is_the_users_own_function_and_its_line(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    SEE(story, 0, EVAL, HELPER, HANDLER, STEP, RUN, START, EVAL);
    SEE(story, 5, MEMCPY, EVAL, PARSE, HANDLER, STEP, RUN, START, EVAL);
    SEE(story, 60, EVAL, HANDLER, STEP, RUN, START, EVAL);
    culprit = find(story, 65);
    assert_int_equal(culprit.longest.function, HANDLER);
    assert_int_equal(culprit.longest.looks, 2);
    assert_int_equal(culprit.leaf.line, 10 * HANDLER);
    assert_false(culprit.has_caller);
    assert_int_equal(culprit.runs[0].function, HELPER);
}

static void who_called_it_is_of_the_same_dispatch(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    SEE(story, 0, MEMCPY, HELPER, EVAL, HANDLER, STEP, RUN, START);
    culprit = find(story, 5);
    assert_int_equal(culprit.longest.function, HELPER);
    assert_true(culprit.has_caller);
    assert_int_equal(culprit.caller.function, HANDLER);
}

/* START only ran the loop, whatever a library does in it. */
static void without_a_function_of_ones_own_it_is_the_librarys(void **state)
{
    struct story *story = *state;

    SEE(story, 0, MEMCPY, EVAL, PARSE, STEP, RUN, START);
    assert_int_equal(find(story, 5).longest.function, PARSE);
}

static void an_extension_of_ones_own_is_the_culprit_itself(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    SEE(story, 0, MEMCPY, EXTENSION, EVAL, PARSE, HANDLER, RUN);
    culprit = find(story, 5);
    assert_int_equal(culprit.longest.function, EXTENSION);
    assert_int_equal(culprit.caller.function, HANDLER);
}

/* An embedding program's own frames stand outside of the functions that it has run. */
static void a_program_around_an_interpreter_is_not_taken_for_what_it_runs(void **state)
{
    struct story *story = *state;

    SEE(story, 0, MEMCPY, EVAL, PARSE, EVAL, A, MAIN);
    assert_int_equal(find(story, 5).longest.function, PARSE);
}

/* Two stalls with one culprit are alike, whatever it called. */
static void what_an_interpreted_culprit_calls_plays_no_part_in_likeness(void **state)
{
    struct story *story = *state;
    uint64_t key;

    SEE(story, 0, MEMCPY, EVAL, HANDLER, STEP, RUN, START);
    key = find(story, 5).key;
    story->count = 0;
    SEE(story, 0, EVAL, HANDLER, STEP, RUN, START);
    assert_int_equal(find(story, 5).key, key);
}

static void the_prefix_is_what_all_whole_stacks_begin_with(void **state)
{
    struct story *story = *state;
    struct culprit culprit;

    SEE(story, 0, MEMCPY, B, LOOP, MAIN);
    SEE(story, 5, C, B, LOOP, MAIN);
    SEE(story, 10, D, A)->whole = false;
    SEE(story, 15, B, LOOP, MAIN);
    culprit = find(story, 20);
    assert_int_equal(culprit.prefix_count, 3);
    assert_int_equal(culprit.prefix[0], MAIN);
    assert_int_equal(culprit.prefix[2], B);
}

/* 100 runs, of which the culprit is the 50th: 32 are told, and nobody's neighbour is of the same function. */
static void a_story_of_many_runs_is_told_in_thirty_two(void **state)
{
    struct story *story = *state;
    struct culprit culprit;
    int64_t at_ms = 0;

    for (int run = 0; run < 100; run++) {
        int64_t end_ms = at_ms + (run == 50 ? 90 : 1 + run * 7 % 23);

        see_for(story, at_ms, end_ms, 1, run == 50 ? D : A + (uint32_t)run % 3);
        at_ms = end_ms;
    }
    culprit = find(story, at_ms);
    assert_int_equal(culprit.longest.function, D);
    assert_true(culprit.run_count <= STALL_RUNS_MAX);
    assert_true(culprit.run_count > STALL_RUNS_MAX / 2);
    assert_int_equal(culprit.runs[0].from_ns, 0);
    assert_int_equal(culprit.runs[culprit.run_count - 1].to_ns, at_ms * MS);
    for (uint32_t i = 1; i < culprit.run_count; i++) {
        assert_int_equal(culprit.runs[i].from_ns, culprit.runs[i - 1].to_ns);
        assert_int_not_equal(culprit.runs[i].function, culprit.runs[i - 1].function);
    }
}

/* However deep a function that calls itself stands, it is one stack: else no two stalls were equal. */
static void a_recursion_is_one_key_at_any_depth(void **state)
{
    struct story *story = *state;
    struct story *other = calloc(1, sizeof(*other));

    SEE(story, 0, B, B, LOOP, MAIN);
    SEE(other, 0, B, B, B, B, LOOP, MAIN);
    assert_int_equal(find(story, 5).key, find(other, 5).key);
    assert_int_equal(find(story, 5).newest, find(other, 5).newest);
    SEE(other, 5, C, LOOP, MAIN);
    SEE(other, 10, C, LOOP, MAIN);
    assert_int_not_equal(find(story, 15).key, find(other, 15).key);
    assert_int_not_equal(find(story, 15).newest, find(other, 15).newest);
    free(other);
}

static void the_same_function_called_from_elsewhere_is_another_key(void **state)
{
    struct story *story = *state;
    struct story *other = calloc(1, sizeof(*other));

    SEE(story, 0, MEMCPY, A, LOOP, MAIN);
    SEE(other, 0, MEMCPY, B, LOOP, MAIN);
    assert_int_not_equal(find(story, 5).key, find(other, 5).key);
    free(other);
}

static void the_caller_is_the_own_code_that_most_samples_have(void **state)
{
    struct story *story = *state;

    SEE(story, 0, MEMCPY, A, LOOP, MAIN);
    SEE(story, 5, MEMCPY, B, LOOP, MAIN);
    SEE(story, 10, MEMCPY, B, LOOP, MAIN);
    assert_int_equal(find(story, 15).caller.function, B);
}

static void system_code_alone_has_no_caller(void **state)
{
    struct story *story = *state;

    SEE(story, 0, MEMCPY);
    assert_false(find(story, 15).has_caller);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_story, close_story)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_samples_have_no_culprit),
        TEST(one_sample_is_the_culprit),
        TEST(the_longest_of_four_is_the_culprit_though_another_runs_at_the_end),
        TEST(thirty_two_of_forty_looks_are_a_hundred_and_sixty_milliseconds),
        TEST(two_places_in_one_function_are_one_culprit),
        TEST(of_equal_runs_the_latest_is_the_culprit),
        TEST(a_run_shorter_by_more_than_a_look_is_not),
        TEST(samples_weigh_by_the_time_that_they_stand_for),
        TEST(a_tick_stands_for_no_more_than_it_may),
        TEST(of_an_interpreted_program_it_is_the_users_own_function_and_its_line),
        TEST(who_called_it_is_of_the_same_dispatch),
        TEST(without_a_function_of_ones_own_it_is_the_librarys),
        TEST(an_extension_of_ones_own_is_the_culprit_itself),
        TEST(a_program_around_an_interpreter_is_not_taken_for_what_it_runs),
        TEST(what_an_interpreted_culprit_calls_plays_no_part_in_likeness),
        TEST(the_prefix_is_what_all_whole_stacks_begin_with),
        TEST(a_story_of_many_runs_is_told_in_thirty_two),
        TEST(a_recursion_is_one_key_at_any_depth),
        TEST(the_same_function_called_from_elsewhere_is_another_key),
        TEST(the_caller_is_the_own_code_that_most_samples_have),
        TEST(system_code_alone_has_no_caller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

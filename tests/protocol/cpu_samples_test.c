/* The text of sample replies: whole JSON at any buffer size, counts that agree, every tag in the
 * table. */
#include "talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const requests[] = {
    "{\"id\":\"1\",\"method\":\"getCpuSamples\",\"params\":{\"isolateId\":\"isolates/100\"}}",
    ("{\"id\":\"1\",\"method\":\"getCpuSamples\",\"params\":{\"isolateId\":\"isolates/"
     "100\",\"_code\":"
     "true}}"),
    "{\"id\":\"1\",\"method\":\"_getCpuSamples\",\"params\":{\"pcs\":true}}",
    "{\"id\":\"1\",\"method\":\"_getCpuSamples\",\"params\":{\"form\":\"table\"}}",
    "{\"id\":\"1\",\"method\":\"getPerfettoVMTimelineWithCpuSamples\"}",
};
/* The last is a trace, which has no names in JSON. */
enum { REQUEST_COUNT = sizeof(requests) / sizeof(*requests), NAMED_COUNT = REQUEST_COUNT - 1 };

/* Names as a crashing program or a hostile file may give them. */
static const struct fake_sample nasty[] = {
    { 100, 1, "quo\"te", FEED_END_ROOT, 0, 2, { { 0, 0, 0, NULL, 0 }, { 1, 0, 0, NULL, 0 } } },
    { 100, 2, "\xff\xfe", FEED_END_DEPTH, 3, 1, { { 1, 0, 0, NULL, 0 } } },
    { 100, 3, "back\\slash\n", FEED_END_LOOP, 0, 1, { { 2, 0, 0, NULL, 0 } } },
};

static void script_nasty(struct profile *profile, char *long_name, size_t length)
{
    memset(long_name, 'x', length - 1);
    long_name[length / 2] = '"';
    long_name[length - 1] = '\0';
    profile->functions[0].name = long_name;
    profile->functions[1].name = "bad \xc3( bytes";
    profile->functions[2].name = "";
    profile->libraries[0].path = "/tmp/sp ace/\xff\"";
    profile->libraries[0].name = "sp ace\xff\"";
    profile->libraries[1].path = "[vdso]";
    profile->libraries[1].name = "[vdso]";
    profile->samples = nasty;
    profile->sample_count = sizeof(nasty) / sizeof(*nasty);
}

static void any_buffer_size_gives_the_same_text(void **state)
{
    static const size_t sizes[] = { 1, 2, 3, 7, 64, 4096, 1024 * 1024 };
    static char long_name[100000];
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    script_nasty(&talk.profile, long_name, sizeof(long_name));
    talk.profile.repeat = 300;
    for (size_t r = 0; r < REQUEST_COUNT; r++) {
        char *whole = NULL;

        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            char *text;

            talk_send(&talk, requests[r]);
            text = talk_receive_text(talk.client, sizes[i]);
            assert_non_null(text);
            if (whole)
                assert_string_equal(text, whole);
            free(whole);
            whole = text;
        }
        free(whole);
    }
    talk_end(&talk);
}

static void nasty_names_make_valid_json(void **state)
{
    static char long_name[70000];
    struct talk talk;

    (void)state;
    talk_begin(&talk);
    script_nasty(&talk.profile, long_name, sizeof(long_name));
    for (size_t r = 0; r < NAMED_COUNT; r++) {
        json_t *reply, *function;

        talk_send(&talk, requests[r]);
        reply = talk_receive(&talk);
        function =
            json_array_get(json_object_get(json_object_get(reply, "result"), "functions"), 0);
        if (json_object_get(function, "function"))
            function = json_object_get(function, "function");
        assert_string_equal(json_string_value(json_object_get(function, "name")), long_name);
        json_decref(reply);
    }
    talk_end(&talk);
}

static const char *function_name(const json_t *functions, size_t index)
{
    const json_t *function = json_object_get(json_array_get(functions, index), "function");

    return json_string_value(json_object_get(function, "name"));
}

static const char *function_kind(const json_t *functions, size_t index)
{
    const json_t *function = json_object_get(json_array_get(functions, index), "function");

    return json_string_value(json_object_get(function, "_kind"));
}

static bool has_tag(const json_t *functions, const char *tag)
{
    for (size_t i = 0; i < json_array_size(functions); i++)
        if (!strcmp(function_kind(functions, i), "Tag") &&
            !strcmp(function_name(functions, i), tag))
            return true;
    return false;
}

/* What Observatory looks up, or it shows nothing at all. */
static void every_tag_of_a_sample_is_in_the_table(void **state)
{
    struct talk talk;
    json_t *result, *functions, *sample;
    size_t i;

    (void)state;
    talk_begin(&talk);
    result = talk_ask(&talk, "getCpuSamples", "{\"isolateId\":\"isolates/100\"}");
    functions = json_object_get(result, "functions");
    assert_true(has_tag(functions, "Root"));
    json_array_foreach(json_object_get(result, "samples"), i, sample)
    {
        assert_true(has_tag(functions, json_string_value(json_object_get(sample, "vmTag"))));
        assert_true(has_tag(functions, json_string_value(json_object_get(sample, "userTag"))));
    }
    assert_int_equal(i, 3);
    json_decref(result);
    talk_end(&talk);
}

static void check_sample(const json_t *sample, const json_t *functions)
{
    const json_t *stack = json_object_get(sample, "stack");

    assert_true(json_array_size(stack) > 0);
    for (size_t i = 0; i < json_array_size(stack); i++) {
        size_t index = (size_t)json_integer_value(json_array_get(stack, i));

        assert_true(index < json_array_size(functions));
        assert_string_not_equal(function_kind(functions, index), "Tag");
    }
}

static void counts_agree_and_no_stack_is_empty(void **state)
{
    struct talk talk;
    json_t *result, *samples, *sample;
    size_t i;

    (void)state;
    talk_begin(&talk);
    talk.profile.repeat = 1000;
    result = talk_ask(&talk, "getCpuSamples", "{\"isolateId\":\"isolates/100\"}");
    samples = json_object_get(result, "samples");
    assert_int_equal(json_integer_value(json_object_get(result, "sampleCount")), 3000);
    assert_int_equal(json_array_size(samples), 3000);
    json_array_foreach(samples, i, sample)
        check_sample(sample, json_object_get(result, "functions"));
    json_decref(result);
    talk_end(&talk);
}

/* Ticks are counted once a sample, also where a function recurs: spin is twice on one stack. */
static void recomputed_ticks_are_the_ticks(void **state)
{
    struct talk talk;
    json_t *result, *spin;

    (void)state;
    talk_begin(&talk);
    result = talk_ask(&talk, "getCpuSamples", "{\"isolateId\":\"isolates/100\"}");
    spin = json_array_get(json_object_get(result, "functions"), 1);
    assert_int_equal(json_integer_value(json_object_get(spin, "inclusiveTicks")), 2);
    assert_int_equal(json_integer_value(json_object_get(spin, "exclusiveTicks")), 2);
    json_decref(result);
    talk_end(&talk);
}

static int64_t code_ticks(const json_t *codes, size_t index, const char *member)
{
    return json_integer_value(json_object_get(json_array_get(codes, index), member));
}

/* Of three samples: main's code has what is inlined into it; spin's is only in the second. */
static void a_codes_ticks_are_those_of_its_stacks(void **state)
{
    struct talk talk;
    json_t *result, *codes;

    (void)state;
    talk_begin(&talk);
    result = talk_ask(&talk, "getCpuSamples", "{\"isolateId\":\"isolates/100\",\"_code\":true}");
    codes = json_object_get(result, "_codes");
    assert_int_equal(json_array_size(codes), json_array_size(json_object_get(result, "functions")));
    assert_int_equal(code_ticks(codes, 0, "exclusiveTicks"), 2);
    assert_int_equal(code_ticks(codes, 0, "inclusiveTicks"), 3);
    assert_int_equal(code_ticks(codes, 1, "exclusiveTicks"), 1);
    assert_int_equal(code_ticks(codes, 1, "inclusiveTicks"), 1);
    json_decref(result);
    talk_end(&talk);
}

static bool has_id(const json_t *table, const char *id)
{
    for (size_t i = 0; i < json_array_size(table); i++)
        if (!strcmp(json_string_value(json_object_get(json_array_get(table, i), "id")), id))
            return true;
    return false;
}

static void every_reference_of_the_article_is_in_its_table(void **state)
{
    struct talk talk;
    json_t *result, *functions, *libraries, *sample, *frame, *function;
    size_t i, j;

    (void)state;
    talk_begin(&talk);
    result = talk_ask(&talk, "_getCpuSamples", "{}");
    functions = json_object_get(result, "functions");
    libraries = json_object_get(result, "libraries");
    json_array_foreach(json_object_get(result, "samples"), i, sample)
    {
        json_array_foreach(json_object_get(sample, "stack"), j, frame)
        {
            const json_t *reference = json_object_get(frame, "function");

            assert_true(has_id(functions, json_string_value(json_object_get(reference, "id"))));
        }
    }
    json_array_foreach(functions, i, function)
    {
        const json_t *owner = json_object_get(function, "owner");

        assert_true(has_id(libraries, json_string_value(json_object_get(owner, "id"))));
    }
    json_decref(result);
    talk_end(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_buffer_size_gives_the_same_text),
        cmocka_unit_test(nasty_names_make_valid_json),
        cmocka_unit_test(every_tag_of_a_sample_is_in_the_table),
        cmocka_unit_test(counts_agree_and_no_stack_is_empty),
        cmocka_unit_test(recomputed_ticks_are_the_ticks),
        cmocka_unit_test(a_codes_ticks_are_those_of_its_stacks),
        cmocka_unit_test(every_reference_of_the_article_is_in_its_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "server/push/push_verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_all(enum push_form form, const long *statuses, size_t count,
                       enum push_verdict verdict)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(push_verdict(form, statuses[i]), verdict);
}

#define ASSERT_ALL(form, statuses, verdict)                                                        \
    assert_all(form, statuses, sizeof(statuses) / sizeof(*(statuses)), verdict)

static void trouble_of_the_engine_is_no_verdict_on_a_profile(void **state)
{
    static const long again[] = { 0, 408, 425, 429, 500, 502, 503, 504, 599 };
    static const long refused[] = { 100, 301, 302, 307, 400, 401, 403, 404, 413, 422 };
    static const long sent[] = { 200, 204 };

    (void)state;
    ASSERT_ALL(PUSH_INGEST, sent, PUSH_SENT);
    ASSERT_ALL(PUSH_INGEST, again, PUSH_AGAIN);
    ASSERT_ALL(PUSH_API, again, PUSH_AGAIN);
    ASSERT_ALL(PUSH_INGEST, refused, PUSH_REFUSED);
}

static void otlp_names_what_may_be_tried_again(void **state)
{
    static const long again[] = { 0, 429, 502, 503, 504 };
    static const long refused[] = { 301, 400, 404, 408, 413, 415, 425, 500, 501, 599 };
    static const long sent[] = { 200, 202 };

    (void)state;
    ASSERT_ALL(PUSH_OTLP, sent, PUSH_SENT);
    ASSERT_ALL(PUSH_OTLP, again, PUSH_AGAIN);
    ASSERT_ALL(PUSH_OTLP, refused, PUSH_REFUSED);
}

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void a_receiver_tells_what_it_left_out(void **state)
{
    char words[16];

    (void)state;
    assert_int_equal(push_rejected(BYTES("")), 0);
    assert_int_equal(push_rejected(BYTES("\x0a\x00")), 0);
    assert_int_equal(push_rejected(BYTES("\x0a\x09\x08\x83\x02\x12\x04none")), 259);
    push_otlp_words(BYTES("\x0a\x09\x08\x83\x02\x12\x04n\xffne"), 200, words, sizeof(words));
    assert_string_equal(words, "n?ne");
    push_otlp_words(BYTES("\x08\x03\x12\x1anot what was expected here"), 400, words, sizeof(words));
    assert_string_equal(words, "not what was ex");
}

static void an_answer_that_is_none_of_otlp_says_nothing(void **state)
{
    static const char *const answers[] = { "<html>404</html>",
                                           "\x0a",
                                           "\x0a\x7f\x08",
                                           "\x0a\x7f",
                                           "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                                           "\x0a\x05\x08\xff" };
    char words[16];

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
        assert_int_equal(push_rejected((const uint8_t *)answers[i], strlen(answers[i])), 0);
        push_otlp_words((const uint8_t *)answers[i], strlen(answers[i]), 200, words, sizeof(words));
        assert_string_equal(words, "");
    }
}

static void waits_double_to_a_minute_less_half_of_it_by_chance(void **state)
{
    (void)state;
    assert_int_equal(push_wait_ms(1, 0, 0), 1000);
    assert_int_equal(push_wait_ms(2, 0, 0), 2000);
    assert_int_equal(push_wait_ms(3, 0, 0), 4000);
    assert_int_equal(push_wait_ms(7, 0, 0), PUSH_WAIT_MS_MAX);
    assert_int_equal(push_wait_ms(100000, 0, 0), PUSH_WAIT_MS_MAX);
    for (uint32_t random = 0; random < 5000; random++)
        assert_in_range(push_wait_ms(3, 0, random), 2000, 4000);
}

static void the_engine_may_ask_for_more_and_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(push_wait_ms(1, 7, 0), 7000);
    assert_int_equal(push_wait_ms(7, 1, 0), PUSH_WAIT_MS_MAX);
    assert_int_equal(push_wait_ms(1, -5, 0), 1000);
    assert_int_equal(push_wait_ms(1, 1L << 40, 0), PUSH_RETRY_AFTER_S_MAX * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_of_the_engine_is_no_verdict_on_a_profile),
        cmocka_unit_test(otlp_names_what_may_be_tried_again),
        cmocka_unit_test(a_receiver_tells_what_it_left_out),
        cmocka_unit_test(an_answer_that_is_none_of_otlp_says_nothing),
        cmocka_unit_test(waits_double_to_a_minute_less_half_of_it_by_chance),
        cmocka_unit_test(the_engine_may_ask_for_more_and_not_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A request's head. What each mistake is refused with: tests/live. */
#include "server/http/http_head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char text[HTTP_HEAD_BYTES_MAX + 1024];

static int read_head(struct http_request *out, const char *head)
{
    struct http_head_scan scan = { 0 };
    size_t length;

    snprintf(text, sizeof(text), "%s", head);
    assert_int_equal(http_head_scan(&scan, text, strlen(text), &length), HTTP_HEAD_WHOLE);
    return http_head_read(out, text, length);
}

static void a_head_ends_with_its_empty_line_however_it_comes(void **state)
{
    static const char head[] = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    struct http_head_scan scan = { 0 };
    size_t length;

    (void)state;
    for (size_t i = 1; i < sizeof(head) - 1; i++)
        assert_int_equal(http_head_scan(&scan, head, i, &length), HTTP_HEAD_UNFINISHED);
    assert_int_equal(http_head_scan(&scan, head, sizeof(head) - 1, &length), HTTP_HEAD_WHOLE);
    assert_int_equal(length, sizeof(head) - 1);
}

static void the_path_is_decoded_and_the_query_is_not(void **state)
{
    struct http_request request;

    (void)state;
    assert_int_equal(read_head(&request, "GET /a%20b//c?d=%20 HTTP/1.1\r\n\r\n"), 0);
    assert_string_equal(request.path, "/a b/c");
    assert_string_equal(request.query, "d=%20");
    assert_int_equal(request.minor, 1);
    assert_null(request.authority);
}

static void an_absolute_target_says_its_host(void **state)
{
    static const struct {
        const char *head, *authority, *path, *query;
    } rows[] = {
        { "GET http://a:1/b HTTP/1.1\r\n\r\n", "a:1", "/b", NULL },
        { "GET https://a HTTP/1.1\r\n\r\n", "a", "/", NULL },
        { "GET HTTP://a?b HTTP/1.1\r\n\r\n", "a", "/", "b" },
        { "GET http://a/?b/c HTTP/1.1\r\n\r\n", "a", "/", "b/c" },
    };
    struct http_request request;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(read_head(&request, rows[i].head), 0);
        assert_string_equal(request.authority, rows[i].authority);
        assert_string_equal(request.path, rows[i].path);
        assert_int_equal(!request.query, !rows[i].query);
        if (rows[i].query)
            assert_string_equal(request.query, rows[i].query);
    }
}

static void fields_are_found_in_any_letters_and_in_their_order(void **state)
{
    struct http_request request;
    size_t at = 0;

    (void)state;
    assert_int_equal(read_head(&request, "GET / HTTP/1.1\r\nX:  1 \r\nY: a, b\r\nx: 2\r\n\r\n"), 0);
    assert_string_equal(http_field(&request, "x"), "1");
    assert_string_equal(http_field_next(&request, "X", &at), "1");
    assert_string_equal(http_field_next(&request, "X", &at), "2");
    assert_null(http_field_next(&request, "X", &at));
    assert_string_equal(http_field(&request, "Z"), "");
    assert_true(http_field_lists(&request, "y", "B"));
    assert_false(http_field_lists(&request, "y", "a, b"));
}

static void a_byte_of_zero_in_the_path_is_seen(void **state)
{
    struct http_request request;

    (void)state;
    assert_int_equal(read_head(&request, "GET /a%00b HTTP/1.1\r\n\r\n"), 0);
    assert_true(request.path_has_nul);
}

static void arguments_are_decoded_one_by_one(void **state)
{
    char query[] = "a=1&&b=x+y%26&c", odd[] = "a=%4";
    const char *arguments[HTTP_ARGUMENTS_MAX];
    size_t count;
    bool malformed;

    (void)state;
    assert_true(http_arguments(query, arguments, &count, &malformed));
    assert_int_equal(count, 3);
    assert_string_equal(arguments[1], "b=x y&");
    assert_true(http_arguments(NULL, arguments, &count, &malformed));
    assert_int_equal(count, 0);
    assert_false(http_arguments(odd, arguments, &count, &malformed));
    assert_true(malformed);
}

static void a_line_or_a_head_has_its_greatest_length(void **state)
{
    struct http_head_scan line = { 0 }, head = { 0 };
    size_t status;

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(http_head_scan(&line, text, HTTP_LINE_BYTES_MAX, &status),
                     HTTP_HEAD_UNFINISHED);
    assert_int_equal(http_head_scan(&line, text, sizeof(text), &status), HTTP_HEAD_REFUSED);
    assert_int_equal(status, 414);
    memcpy(text, "x\r\n", 3);
    assert_int_equal(http_head_scan(&head, text, HTTP_HEAD_BYTES_MAX, &status),
                     HTTP_HEAD_UNFINISHED);
    assert_int_equal(http_head_scan(&head, text, sizeof(text), &status), HTTP_HEAD_REFUSED);
    assert_int_equal(status, 431);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_ends_with_its_empty_line_however_it_comes),
        cmocka_unit_test(the_path_is_decoded_and_the_query_is_not),
        cmocka_unit_test(an_absolute_target_says_its_host),
        cmocka_unit_test(fields_are_found_in_any_letters_and_in_their_order),
        cmocka_unit_test(a_byte_of_zero_in_the_path_is_seen),
        cmocka_unit_test(arguments_are_decoded_one_by_one),
        cmocka_unit_test(a_line_or_a_head_has_its_greatest_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

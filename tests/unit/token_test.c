/* The random words of a service. */
#include "server/http/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void text_is_base64url_with_padding(void **state)
{
    uint8_t bytes[TOKEN_BYTES] = { 0 };
    char text[TOKEN_TEXT_BYTES];

    (void)state;
    token_text(text, bytes);
    assert_string_equal(text, "AAAAAAAAAAAAAAAAAAAAAA==");
    memset(bytes, 0xff, sizeof(bytes));
    token_text(text, bytes);
    assert_string_equal(text, "_____________________w==");
    memcpy(bytes, "isoscope profile", sizeof(bytes));
    token_text(text, bytes);
    assert_string_equal(text, "aXNvc2NvcGUgcHJvZmlsZQ==");
}

static void two_random_tokens_differ(void **state)
{
    uint8_t one[TOKEN_BYTES] = { 0 }, other[TOKEN_BYTES] = { 0 };

    (void)state;
    assert_int_equal(token_random(one), 0);
    assert_int_equal(token_random(other), 0);
    assert_memory_not_equal(one, other, TOKEN_BYTES);
}

static void one_wrong_bit_is_a_wrong_token(void **state)
{
    char given[] = "0123456789abcdef";

    (void)state;
    assert_true(token_equal("0123456789abcdef", given, 16));
    for (int i = 0; i < 16; i++) {
        given[i] ^= 0x40;
        assert_false(token_equal("0123456789abcdef", given, 16));
        given[i] ^= 0x40;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_base64url_with_padding),
        cmocka_unit_test(two_random_tokens_differ),
        cmocka_unit_test(one_wrong_bit_is_a_wrong_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

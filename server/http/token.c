#include "token.h"

#include "../../protocol/text/base64_digits.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <assert.h>
#include <errno.h>
#include <sys/random.h>

int token_random(uint8_t out[TOKEN_BYTES])
{
    ssize_t got;

    do {
        got = getrandom(out, TOKEN_BYTES, 0);
    } while (got < 0 && errno == EINTR);
    return got == TOKEN_BYTES ? 0 : -ISOSCOPE_SYSTEM;
}

static_assert(TOKEN_TEXT_BYTES == BASE64_TEXT_BYTES(TOKEN_BYTES), "room for all digits");

void token_text(char out[TOKEN_TEXT_BYTES], const uint8_t bytes[TOKEN_BYTES])
{
    base64_text(out, bytes, TOKEN_BYTES, BASE64_URL);
}

bool token_equal(const void *right, const void *given, size_t size)
{
    const volatile uint8_t *a = right, *b = given;
    uint8_t difference = 0;

    for (size_t i = 0; i < size; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

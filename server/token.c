#include "token.h"

#include "../sampler/include/isoscope/isoscope.h"

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

void token_text(char out[TOKEN_TEXT_BYTES], const uint8_t bytes[TOKEN_BYTES])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char *end = out;

    for (size_t i = 0; i < TOKEN_BYTES; i += 3) {
        size_t left = TOKEN_BYTES - i;
        uint32_t group = (uint32_t)bytes[i] << 16;

        group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= left > 2 ? bytes[i + 2] : 0;
        *end++ = digits[group >> 18];
        *end++ = digits[group >> 12 & 63];
        *end++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *end++ = left > 2 ? digits[group & 63] : '=';
    }
    *end = '\0';
}

bool token_equal(const void *right, const void *given, size_t size)
{
    const volatile uint8_t *a = right, *b = given;
    uint8_t difference = 0;

    for (size_t i = 0; i < size; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

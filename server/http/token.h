/*
 * token.h - the random word that keeps strangers out: the URL's token.
 *
 * 16 bytes from the kernel, as base64url with its padding, as the Dart VM writes its
 * authentication code.
 *
 * Errors     0 or -ISOSCOPE_SYSTEM when the kernel has no random bytes to give.
 */
#ifndef ISOSCOPE_TOKEN_H
#define ISOSCOPE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOKEN_BYTES = 16,
    TOKEN_TEXT_BYTES = 25, /* 24 characters of base64url and the end */
};

int token_random(uint8_t out[TOKEN_BYTES]);
void token_text(char out[TOKEN_TEXT_BYTES], const uint8_t bytes[TOKEN_BYTES]);

/* Takes as long for a wrong token as for the right one, so its time says nothing. */
bool token_equal(const void *right, const void *given, size_t size);

#endif

/*
 * json_read.h - all that is JSON by grammar, also what jansson refuses to read.
 *
 * Whole numbers beyond 64 bits become doubles, as the VM reads them. What no JSON value of ours can
 * hold (1e400, half a surrogate pair) becomes a stand-in, so that its message can be answered:
 * a string with a NUL, which json_is_damaged finds. In an object's key it becomes U+FFFD.
 *
 * Errors     NULL, with jansson's error of the text as it came.
 */
#ifndef ISOSCOPE_JSON_READ_H
#define ISOSCOPE_JSON_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* damaged: there is a stand-in in it. */
json_t *json_read(const char *text, size_t length, bool *damaged, json_error_t *error);

/* In a damaged message: does this value hold a stand-in? NULL does not. */
bool json_is_damaged(const json_t *value);

#endif

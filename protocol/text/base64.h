/*
 * base64.h - bytes as base64 text, in pieces.
 */
#ifndef ISOSCOPE_BASE64_H
#define ISOSCOPE_BASE64_H

#include "json_writer.h"

/* Returns how many bytes it has taken: whole threes, or (last) all, padded. */
size_t base64_put(struct json_text *text, const char *bytes, size_t length, bool last);

#endif

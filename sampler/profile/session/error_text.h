/*
 * error_text.h - the sentence of an isoscope_error: isoscope_strerror is not in this process.
 */
#ifndef ISOSCOPE_SESSION_ERROR_TEXT_H
#define ISOSCOPE_SESSION_ERROR_TEXT_H

#include "../../include/isoscope/isoscope.h"

/* error: 0 or negative. */
static inline const char *error_text(int error)
{
#define TEXT(name, text) [ISOSCOPE_##name] = text,
    static const char *const texts[ISOSCOPE_ERROR_COUNT] = { ISOSCOPE_ERRORS(TEXT) };
#undef TEXT

    return error < 0 && error > -ISOSCOPE_ERROR_COUNT ? texts[-error] : "unknown error";
}

#endif

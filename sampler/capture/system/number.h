/*
 * number.h - a number as decimal text, for paths in /proc: without libc's formatting.
 *
 * Ownership  The caller's memory: 11 bytes are enough for any pid or tid and the end.
 */
#ifndef ISOSCOPE_NUMBER_H
#define ISOSCOPE_NUMBER_H

#include "../../feed/signal_safe.h"

#include <stdint.h>

/* Writes number (0 or more), ends it with 0, and returns where the 0 is. */
SIGNAL_SAFE_INLINE char *number_put(char *at, int32_t number)
{
    char digits[12];
    int count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *at++ = digits[--count];
    *at = 0;
    return at;
}

#endif

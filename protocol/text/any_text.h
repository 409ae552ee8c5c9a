/*
 * any_text.h - names of programs, threads and functions, which may hold any bytes, for jansson.
 */
#ifndef ISOSCOPE_ANY_TEXT_H
#define ISOSCOPE_ANY_TEXT_H

#include <jansson.h>

/* As a JSON string; a byte that is no UTF-8 becomes U+FFFD. NULL when out of memory. */
json_t *any_text(const char *bytes);

#endif

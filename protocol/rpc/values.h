/*
 * values.h - a parameter's value as the VM sees it: text.
 *
 * The VM turns every value into a string before anybody looks at it: 5 and "5" are the same, and an
 * error shows the string. So do we, printing as Dart does: 1.0, 1e+30, [a, b], {a: 1}.
 *
 * Errors     NULL: out of memory.
 */
#ifndef ISOSCOPE_VALUES_H
#define ISOSCOPE_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new JSON string. */
json_t *value_text(const json_t *value);

/* Decimal digits, '-' before them or not, nothing else, and it fits. */
bool value_int64(const char *text, int64_t *out);

/* A new JSON list of what stands in "[a, b]"; also NULL when it is no such text. */
json_t *value_list(const char *text);

#endif

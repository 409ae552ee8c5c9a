/*
 * interned.h - byte strings, once each: the first one is number 0, the next new one 1.
 *
 * Ownership  The user's struct; all zeros is an empty one, interned_free ends it. What interned_text
 *            lends lives until the next interned_put.
 * Errors     Out of memory sets failed; the number given then is no number: look once, at the end.
 */
#ifndef ISOSCOPE_INTERNED_H
#define ISOSCOPE_INTERNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interned_entry {
    size_t at; /* in bytes */
    uint32_t size, hash;
};

struct interned {
    char *bytes;
    size_t length, capacity;
    struct interned_entry *entries;
    uint32_t count, entry_capacity;
    uint32_t *slots; /* of numbers + 1; 0: free */
    uint32_t slot_count;
    bool failed;
};

/* added: it was not there. */
uint32_t interned_put(struct interned *interned, const void *bytes, size_t size, bool *added);
/* The same of a text, in a table whose number 0 is "". NULL: "". */
uint32_t interned_string(struct interned *interned, const char *text);
bool interned_has(const struct interned *interned, const void *bytes, size_t size);
const char *interned_text(const struct interned *interned, uint32_t number, size_t *size);
void interned_free(struct interned *interned);

#endif

/*
 * function_key.h - what the debug data says of a function that makes it the same one elsewhere: its
 * name in the source, and the place of that name.
 *
 * Ownership  Texts are kept in the names given, so that equal ones are one pointer.
 * Errors     A key or name without a text: there is none, or no room for it.
 */
#ifndef ISOSCOPE_FUNCTION_KEY_H
#define ISOSCOPE_FUNCTION_KEY_H

#include "../store/names.h"
#include "functions.h"

struct function_key {
    uint32_t module, line;
    const char *name, *file; /* name NULL: the debug data does not tell which function it is */
};

struct function_key function_key_of(struct names *texts, const struct function_source *source);
uint64_t function_key_hash(const struct function_key *key);
bool function_key_same(const struct function_key *a, const struct function_key *b);

/* How a function that no symbol names is called: as its author does. */
void function_key_names(struct names *texts, const struct function_source *source,
                        struct function *out);
/* NULL for NULL. */
const char *function_key_text(struct names *texts, const char *text);

#endif

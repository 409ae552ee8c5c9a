/*
 * entry.h - a JSON object of a session: members put in, and read out with what they may be.
 *
 *     struct entry entry = entry_of(object, problem);
 *     pid = entry_int(&entry, "pid", 0, INT32_MAX); if (entry.bad) ... *problem says why
 *
 * A member that is not there reads as 0, false or NULL. One that cannot be true makes bad stick, and
 * says the first reason.
 *
 * Ownership  Objects are the caller's; what is read belongs to the object.
 * Errors     Writing: NULL is no memory, as jansson has it; json_object_set_new passes it on.
 */
#ifndef ISOSCOPE_SESSION_ENTRY_H
#define ISOSCOPE_SESSION_ENTRY_H

#include "bytes.h"

#include <jansson.h>

enum { ENTRY_REASON_BYTES = 200 };

/* Any bytes as a JSON string; one that is no UTF-8 becomes U+FFFD. NULL is null. */
json_t *entry_text_of(const char *bytes);
/* An unsigned number; above INT64_MAX it wraps, as the page says. */
json_t *entry_uint_of(uint64_t number);
/* The object as text; failed without memory. Takes it over; NULL is no memory. */
void entry_dump(json_t *object, struct bytes *out);

struct entry {
    const json_t *object;
    char *reason; /* of ENTRY_REASON_BYTES */
    bool bad;
};

struct entry entry_of(const json_t *object, char *reason);
/* It is bad, and this is why, if nothing was before. */
void entry_fail(struct entry *entry, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t entry_int(struct entry *entry, const char *name, int64_t least, int64_t most);
/* Any 64 bits. */
uint64_t entry_word(struct entry *entry, const char *name);
bool entry_flag(struct entry *entry, const char *name);
/* NULL: it is not there, or null. */
const char *entry_text(struct entry *entry, const char *name);
/* NULL: it is not there. */
const json_t *entry_list(struct entry *entry, const char *name);
const json_t *entry_object(struct entry *entry, const char *name);
/* An element of a list, in the same way; reads 0 where it is bad. name: the list's. */
int64_t entry_int_at(struct entry *entry, const char *name, const json_t *list, size_t at,
                     int64_t least, int64_t most);

#endif

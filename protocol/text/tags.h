/*
 * tags.h - the set of tags a reply has used, in the order of their first use.
 *
 * Observatory refuses a profile with a tag in a sample that is not in the table of functions too,
 * so the tags are gathered while samples go out, and listed behind them.
 *
 * Ownership  The caller owns a struct tags; zeroed is empty. Names are copied.
 * Errors     Out of memory sets failed; the tag is missing then.
 */
#ifndef ISOSCOPE_TAGS_H
#define ISOSCOPE_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tags {
    char **names; /* [0, count) */
    uint32_t count;
    uint32_t *slots;     /* hash table of index + 1; 0: free */
    uint32_t slot_count; /* a power of two, at least twice count; 0 before the first */
    uint32_t last;       /* index of the last hit: samples of a thread come in runs */
    bool failed;
};

void tags_add(struct tags *tags, const char *name);
void tags_free(struct tags *tags);

#endif

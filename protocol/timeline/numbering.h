/*
 * numbering.h - a number for each different key, in the order in which they are first met.
 *
 * A key is two words: a process and a tid, or a pointer to a text that its timeline keeps.
 *
 * Ownership  The caller owns a struct numbering; zeroed is empty.
 * Errors     Out of memory sets failed; the number is 0 then.
 */
#ifndef ISOSCOPE_NUMBERING_H
#define ISOSCOPE_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

struct numbering_slot {
    uint64_t first, second;
    uint32_t number; /* and 1; 0: free */
};

struct numbering {
    struct numbering_slot *slots;
    uint32_t slot_count; /* a power of two, at least twice count; 0 before the first */
    uint32_t count;
    bool failed;
};

/* is_new: it had none. */
uint32_t numbering_of(struct numbering *numbering, uint64_t first, uint64_t second, bool *is_new);
void numbering_free(struct numbering *numbering);

static inline uint32_t numbering_of_text(struct numbering *numbering, const char *text,
                                         bool *is_new)
{
    return numbering_of(numbering, (uint64_t)(uintptr_t)text, 0, is_new);
}

#endif

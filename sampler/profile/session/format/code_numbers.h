/*
 * code_numbers.h - numbers of runtimes' functions, of a file and of the profile that it is read into.
 *
 * Two files number their functions on their own. The first file's numbers stay; those of others become
 * new ones, as they are met in functions and chains. What was not met there is no function.
 *
 * Ownership  The user's struct: all zeros is empty, code_numbers_free ends it.
 * Threads    code_numbers_learn: one, before all others; code_numbers_find: any.
 */
#ifndef ISOSCOPE_SESSION_CODE_NUMBERS_H
#define ISOSCOPE_SESSION_CODE_NUMBERS_H

#include "../../base/map64.h"

#include <stdbool.h>
#include <stdint.h>

/* By what a module's offsets are. */
enum module_offsets { OFFSETS_ADDRESSES, OFFSETS_NAMES, OFFSETS_CODES };

struct code_numbers {
    bool keep;            /* they are the profile's */
    uint32_t last;        /* number of the profile */
    struct map64 numbers; /* file's -> profile's; not in use where they are kept */
};

/* offset: codes.h's CODE_OFFSET. The same in the profile; number 0: there is no room, or it was not met. */
uint64_t code_numbers_learn(struct code_numbers *codes, uint64_t offset);
uint64_t code_numbers_find(const struct code_numbers *codes, uint64_t offset);
void code_numbers_free(struct code_numbers *codes);

#endif

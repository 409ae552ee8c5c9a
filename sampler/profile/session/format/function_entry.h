/*
 * function_entry.h - functions of a session, many at a time: FUNC.
 *
 * Errors     As entry.h; function_entry_read fails its entry.
 */
#ifndef ISOSCOPE_SESSION_FUNCTION_ENTRY_H
#define ISOSCOPE_SESSION_FUNCTION_ENTRY_H

#include "../../base/map64.h"
#include "../../naming/functions.h"
#include "code_numbers.h"
#include "entry.h"

enum { FUNCTIONS_AT_ONCE = 4096 };

/* How far a file is told of functions. All zeros: not at all. */
struct functions_told {
    uint64_t version; /* all that had changed up to then */
    uint64_t until;   /* while number is not 0: the version that is told now, */
    uint32_t number;  /* up to this number */
    uint32_t files;
};

/* What the file is not told of yet, FUNCTIONS_AT_ONCE at most; NULL: nothing is left, or (failed)
 * there was no memory. */
json_t *function_entry_write(struct functions *functions, struct functions_told *told,
                             bool *failed);

/* How a file's numbers become the profile's. */
struct function_numbers {
    bool keep;               /* they are the profile's */
    const uint16_t *modules; /* by the file's number; 0: there is none */
    const uint8_t *offsets;  /* module_offsets, by the same */
    struct code_numbers *codes;
    struct map64 functions; /* file's -> profile's; not in use where they are kept */
    struct map64 files;     /* file's -> profile's */
};

void function_entry_read(struct entry *entry, struct functions *functions,
                         struct function_numbers *numbers);

#endif

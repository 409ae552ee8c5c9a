/*
 * code.h - the door from the wire to machine code: a function's instructions, read from the file of
 * its module.
 *
 *   function's id -> profile_code_ask -> symbol worker (file, symbols, lines) -> listing
 *
 * How often each instruction ran is not told: frames of samples have offsets (snapshot.h).
 *
 * Units      offset: in the module, as snapshot_function's.
 * Ownership  profile_code_ask makes, profile_code_free releases; all pointers live until then.
 * Threads    Any; one request is one thread's at a time.
 * Errors     0 or a negative isoscope_error. Code that cannot be had is a listing with a reason.
 */
#ifndef ISOSCOPE_CODE_H
#define ISOSCOPE_CODE_H

#include <stdint.h>

struct profile;
struct code_request;

enum { CODE_BYTES_MAX = 16, CODE_LISTED_MAX = 64 * 1024 /* bytes of code in one listing */ };
#define CODE_NO_TARGET UINT64_MAX

struct code_instruction {
    uint64_t offset;
    uint8_t bytes[CODE_BYTES_MAX];
    uint8_t size;
    const char *mnemonic, *operands; /* operands: "" where there are none */
    uint64_t target;      /* where it jumps to or what it calls; CODE_NO_TARGET: not told by it */
    const char *called;   /* what is there, where that is another function; NULL: not known */
    const char *function; /* that was inlined there; NULL: none */
    const char *file;     /* of the line; NULL: not known */
    uint32_t line;        /* of the innermost function; 0: not known */
};

struct code_listing {
    const char *reason; /* why there are no instructions; NULL: there are */
    const struct code_instruction *instructions;
    uint32_t count;
    uint64_t next; /* the rest of the function begins there; 0: that was all */
    uint64_t
        load_bias; /* address - offset, in the process that had the module last; 0: not known */
};

/* from: the function's code from this offset on; 0: all of it. 0, -ISOSCOPE_NO_MEMORY or
 * -ISOSCOPE_NOT_FOUND: no function has the id. */
int profile_code_ask(struct code_request **out, struct profile *profile, const char *function_id,
                     uint64_t from);
/* NULL: it is being read; profile_options.changed is called when it is there, and at other times. */
const struct code_listing *profile_code_listing(const struct code_request *request);
void profile_code_free(struct code_request *request); /* NULL is fine */

#endif

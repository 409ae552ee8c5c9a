/*
 * functions.h - every function the profile has named, one record each for the life of the profile.
 *
 *   resolver (a symbol, or a subprogram of the debug data) -> functions -> snapshot (a copy)
 *
 * A function is known by where it starts, by its name in the source and the place of that name, or
 * by both: an inlined instance and the out-of-line copy are one function. When two records turn out
 * to be one function, the one becomes another name of the other; both ids stay good.
 *
 * Ownership  The table owns its records and copies the texts of the debug data. The names of
 *            symbols are lent: they live as long as the profile.
 * Threads    Any; one lock.
 * Errors     functions_new: 0 or -ISOSCOPE_NO_MEMORY. Number 0: no room for another function.
 */
#ifndef ISOSCOPE_FUNCTIONS_H
#define ISOSCOPE_FUNCTIONS_H

#include "function_files.h"

#include <stdbool.h>
#include <stdint.h>

struct functions;

enum { FUNCTIONS_MAX = 1 << 20, FUNCTION_ID_BYTES = 40 };
#define FUNCTION_NO_START UINT64_MAX /* it was only seen inlined into others */

/* What is known of a function at one address. */
struct function_source {
    uint32_t module;                         /* registry.h */
    uint64_t start;                          /* offset in the module, or FUNCTION_NO_START */
    uint64_t size;                           /* of what is there; 0: not known */
    const char *name, *full_name, *raw_name; /* the symbol's; NULL: made of source_name */
    const char *source_name;                 /* in the debug data; NULL: not there */
    bool mangled;                            /* source_name is a linkage name */
    const char *scope; /* what source_name is in, "space::Class"; NULL: nothing, or mangled */
    const char *file;  /* where it is defined; NULL, 0: not known */
    uint32_t line;
};

struct function {
    uint32_t number, module;
    uint64_t start;             /* or FUNCTION_NO_START */
    uint64_t size;              /* 0: not known */
    char id[FUNCTION_ID_BYTES]; /* "functions/3/1a2b0"; inlined only: "functions/3/i7" */
    const char *name, *full_name, *raw_name; /* never NULL */
    const char *file;                        /* as functions_file keeps it; NULL: not known */
    uint32_t file_number;                    /* one for each text; 0: not known */
    uint32_t line;                           /* 0: not known */
};

int functions_new(struct functions **out);
void functions_free(struct functions *functions); /* NULL is fine */

/* The text as the table keeps it; NULL for NULL, and when there is no room. */
const char *functions_text(struct functions *functions, const char *text);
/* The same for the path of a source file; number (NULL is fine): as function's file_number. */
const char *functions_file(struct functions *functions, const char *path, uint32_t *number);

/* Finds, adds, or completes. Its start, a name or a source_name must be there. */
uint32_t functions_number(struct functions *functions, const struct function_source *source);
/* number: one that functions_number gave. */
void functions_get(struct functions *functions, uint32_t number, struct function *out);
/* False: no record has the id. */
bool functions_find(struct functions *functions, const char *id, struct function *out);
/* The files that they are in, from the one at that place on; fills at most capacity. Returns how
 * many; 0: there are no more. */
uint32_t functions_files(struct functions *functions, uint32_t from, struct function_file *out,
                         uint32_t capacity);

/* A session's side: what is written to it, and put back out of it. */

/* The number of a record that has changed after the version, the smallest above after; 0: there is
 * none. root: the record that it is another name of; its own number: of none. */
uint32_t functions_changed(struct functions *functions, uint64_t version, uint32_t after,
                           struct function *out, uint32_t *root);
bool functions_has(struct functions *functions, uint32_t number);
/* It grows with each change. */
uint64_t functions_version(struct functions *functions);
/* The same of files: number's path; NULL: it has none. Numbers [1, functions_file_end) may have. */
const char *functions_file_path(struct functions *functions, uint32_t number);
uint32_t functions_file_end(struct functions *functions);

/* Fills in the id, of its number, or of where it starts. */
void function_put_id(struct function *function, bool by_number);
/* Under the numbers that they had; others come behind. function: texts are copied; its file is
 * file_number's. False: the number is taken or out of range, or there is no room. */
bool functions_put_file(struct functions *functions, uint32_t number, const char *path);
bool functions_put(struct functions *functions, const struct function *function);
/* number becomes another name of root; both are there. False: they are not, or root is number's. */
bool functions_put_same(struct functions *functions, uint32_t number, uint32_t root);

#endif

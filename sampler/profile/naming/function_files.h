/*
 * function_files.h - the files that functions are in, each once a module: they are few where the
 * functions are many.
 *
 * Ownership  All zeros is empty; function_files_free ends it. Refers to the functions' texts.
 * Threads    The caller's lock.
 * Errors     A file that no memory is left for is not kept.
 */
#ifndef ISOSCOPE_FUNCTION_FILES_H
#define ISOSCOPE_FUNCTION_FILES_H

#include "../base/map64.h"

struct function;

struct function_file {
    uint32_t module;
    uint32_t number;    /* of the text; 0: of the functions whose file is not known */
    const char *text;   /* NULL: not known */
    uint32_t functions; /* how many are in it; 0: their files have become known */
};

struct function_files {
    struct function_file *list; /* in the order in which they came */
    uint32_t count, capacity;
    struct map64 by_key; /* module and number -> place in the list + 1 */
};

/* One function more is in its file. */
void function_files_put(struct function_files *files, const struct function *function);
/* Not there any more, where it was put. */
void function_files_take_away(struct function_files *files, const struct function *function);
void function_files_free(struct function_files *files);

#endif

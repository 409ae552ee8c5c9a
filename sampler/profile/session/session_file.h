/*
 * session_file.h - the blocks of a session file that is read: one after the other, or at a place.
 *
 * Ownership  The user's struct; session_file_close ends it. It borrows the path.
 * Threads    session_file_read: any, each with bytes of its own. The rest: one at a time.
 * Errors     0 or a negative isoscope_error; then problem says where and why, but for file.
 */
#ifndef ISOSCOPE_SESSION_FILE_H
#define ISOSCOPE_SESSION_FILE_H

#include "../saved.h"
#include "format/blocks.h"

struct session_file {
    const char *path;
    int fd; /* -1: it is not open */
    uint64_t bytes, position;
    uint64_t cut_bytes; /* of an incomplete last block */
};

struct block_place {
    struct block_head head;
    uint64_t position; /* of its head */
};

/* Its head is looked at. */
int session_file_open(struct session_file *file, const char *path, struct saved_problem *problem);
void session_file_close(struct session_file *file);
/* Back to the first block. */
void session_file_rewind(struct session_file *file);
/* The next block. 1: there is one. 0: there is none that is complete. */
int session_file_next(struct session_file *file, struct block_place *out,
                      struct saved_problem *problem);
/* What is stored of it, checked. */
int session_file_read(const struct session_file *file, const struct block_place *place,
                      struct bytes *stored, struct saved_problem *problem);

/* Returns -ISOSCOPE_DAMAGED. */
int session_problem(struct saved_problem *problem, uint64_t position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

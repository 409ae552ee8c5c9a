/*
 * record_file.h - a session file on its way to the disk: it comes under its name with its head in
 * it, and grows by whole blocks.
 *
 * Ownership  The user's struct; record_file_close ends it. All zeros is none (fd 0 is never one).
 * Errors     0 or an errno. After a failed append the file is as it was before it.
 */
#ifndef ISOSCOPE_SESSION_RECORD_FILE_H
#define ISOSCOPE_SESSION_RECORD_FILE_H

#include "format/bytes.h"

#include <limits.h>

struct record_file {
    int fd; /* 0: none */
    uint64_t bytes;
    char path[PATH_MAX];
};

/* With its first blocks. What had the path before is replaced; a folder, a device or the like is
 * not (EEXIST). */
int record_file_create(struct record_file *file, const char *path, const struct bytes *first);
int record_file_append(struct record_file *file, const struct bytes *blocks);
void record_file_close(struct record_file *file);
/* The errno in words for a user. */
const char *record_file_reason(int problem);

#endif

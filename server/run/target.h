/*
 * target.h - the program to run: found as execvp finds it, and looked at before it is started.
 *
 * A preload silently does nothing in a static or setuid program; the user is told here instead.
 *
 * Ownership  A target owns its strings; target_free releases them.
 * Errors     0; or a negative isoscope_error with a sentence in error, and in *status the exit
 *            status that a shell would give (status.h).
 */
#ifndef ISOSCOPE_TARGET_H
#define ISOSCOPE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whose rights the program would start with: decides whether the loader would drop a preload. */
struct target_identity {
    uid_t uid, euid;
    gid_t gid, egid;
    bool no_new_privileges; /* setuid bits and file capabilities mean nothing then */
};

struct target {
    char *path;       /* the file that was named */
    char *binary;     /* what the kernel really loads: path itself, or its #! interpreter */
    bool needs_shell; /* no format the kernel knows: execvp gives such a file to /bin/sh */
};

/* The identity of this process. */
void target_identity_self(struct target_identity *out);

/* name: as typed. search: $PATH, or NULL when it is not set. */
int target_find(char **out, const char *name, const char *search, int *status, char *error,
                size_t error_size);

/* Follows #! lines and reads the ELF header. path: from target_find. */
int target_examine(struct target *out, const char *path, const struct target_identity *identity,
                   int *status, char *error, size_t error_size);

void target_free(struct target *target);

#endif

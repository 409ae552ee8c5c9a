/*
 * run_dir.h - the private folder of one run: the feed's socket, the tables' file beside it, and a
 * name for the library that LD_PRELOAD can spell.
 *
 * Made with 0700 under $XDG_RUNTIME_DIR, $TMPDIR or /tmp, whichever first can hold it. What killed
 * runs left there goes (stale_dirs.h).
 *
 * Ownership  run_dir_free removes the folder and what lies in it.
 * Errors     0, -ISOSCOPE_SYSTEM, -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_RUN_DIR_H
#define ISOSCOPE_RUN_DIR_H

#include <stddef.h>

struct run_dir;

/* problem: what was in the way, where it fails. */
int run_dir_new(struct run_dir **out, char *problem, size_t problem_size);
/* One that programs of other users find things in, by their names: below /tmp, which all may enter, with 0711. */
int run_dir_new_for_others(struct run_dir **out, char *problem, size_t problem_size);
void run_dir_free(struct run_dir *dir); /* NULL is fine */
/* After a fork: the folder is the other process's affair. */
void run_dir_leave(struct run_dir *dir);
void run_dir_freep(struct run_dir **dir);

/* Where the feed's socket is to be. */
const char *run_dir_socket(const struct run_dir *dir);

/* library itself when LD_PRELOAD can name it, else a symlink in the folder. The string is lent. */
int run_dir_library(struct run_dir *dir, const char *library, const char **out);
/* The same of one of those beside it (environment.h). */
int run_dir_companion(struct run_dir *dir, int companion, const char *library, const char **out);

#endif

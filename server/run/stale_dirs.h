/*
 * stale_dirs.h - folders of runs that were killed: they are removed when the next run makes its
 * own.
 *
 * A folder is stale when
 *   - it is this user's, and named and closed as run_dir.c names and closes it;
 *   - nobody holds its lock or listens on its socket;
 *   - it was not touched for a minute, for another run may be just making it.
 * Only what run_dir.c puts into it is removed. A folder with anything else in it stays.
 *
 * Errors     None: what cannot be removed stays.
 */
#ifndef ISOSCOPE_STALE_DIRS_H
#define ISOSCOPE_STALE_DIRS_H

/* What run_dir.c makes: a folder of this name under parent, and in it at most these. */
#define RUN_DIR_NAME          "isoscope-XXXXXX"
#define RUN_DIR_SOCKET        "feed"
#define RUN_DIR_LIBRARY       "libisoscope.so"
#define RUN_DIR_ALLOC_LIBRARY "libisoscope_alloc.so"
#define RUN_DIR_LOCK_LIBRARY  "libisoscope_lock.so"

void stale_dirs_remove(const char *parent);

/* Marks a folder as in use until the descriptor is closed, in whatever way the process ends.
 * Returns the descriptor, or -1. */
int stale_dirs_hold(const char *folder);

#endif

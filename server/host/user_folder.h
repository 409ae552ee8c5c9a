/*
 * user_folder.h - a folder of one user alone: of the tables that his programs map, and of what is kept for
 * him over a restart.
 *
 * Threads    Any; no state.
 * Errors     -1 and errno.
 */
#ifndef ISOSCOPE_USER_FOLDER_H
#define ISOSCOPE_USER_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* The folder's descriptor, the caller's. EEXIST: what is there is not his alone. */
int user_folder_open(const char *path, uid_t uid);
/* The same; makes it where it is not there. */
int user_folder_make(const char *path, uid_t uid, gid_t gid);
/* No other service has it while the descriptor is open. EWOULDBLOCK: one has; a moment is waited for it to
 * end. */
int user_folder_hold(const char *path);

/* Where a host service keeps what outlives it: systemd's $STATE_DIRECTORY; else root's
 * /var/lib/isoscope, or isoscope/host in $XDG_STATE_HOME or ~/.local/state. False: nothing names it, or the
 * name has more than size bytes. */
bool state_folder_default(char *out, size_t size);
/* Makes it, and those above it. */
int state_folder_make(const char *path);

#endif

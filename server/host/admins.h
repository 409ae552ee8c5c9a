/*
 * admins.h - who may see the programs of all users: root, and the members of one group.
 *
 * Threads    The host's one thread: it asks the accounts' database.
 */
#ifndef ISOSCOPE_ADMINS_H
#define ISOSCOPE_ADMINS_H

#include <stdbool.h>
#include <sys/types.h>

/* group: its name; NULL: only root is one. gid: the caller's own group. */
bool admins_has(const char *group, uid_t uid, gid_t gid);
/* There is such a group. */
bool admins_known(const char *group);

#endif

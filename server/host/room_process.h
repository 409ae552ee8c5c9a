/*
 * room_process.h - starts the process of a room: this command anew, as the user, with nothing but
 * the link.
 *
 * It is started by exec: no memory of the host's, with other users' tokens, is in it.
 */
#ifndef ISOSCOPE_ROOM_PROCESS_H
#define ISOSCOPE_ROOM_PROCESS_H

#include <sys/types.h>

#define ROOM_COMMAND "serve-room"

struct room_owner {
    uid_t uid;
    gid_t gid; /* where no account says more */
};

/* words: its options, up to a NULL. Returns its pid, or -1 with errno. */
pid_t room_process_start(const struct room_owner *owner, int link, char *const *words);

#endif

/*
 * supervised.h - what systemd, or who speaks as it does, gives to a service and keeps for it.
 *
 *   LISTEN_FDS      sockets that wait, and descriptors that an earlier start has stored
 *   NOTIFY_SOCKET   READY=1, FDSTORE=1
 *
 * The two are small and promised to stay as they are, so libsystemd, with its compressors, is no part of
 * a process that runs as root.
 *
 * Threads    The host's one thread.
 * Errors     What nobody listens to is not said; a store that is full keeps nothing more.
 * Source     sd_listen_fds(3), sd_notify(3), sd_pid_notify_with_fds(3).
 */
#ifndef ISOSCOPE_SUPERVISED_H
#define ISOSCOPE_SUPERVISED_H

#include <stdbool.h>
#include <stddef.h>

enum { SUPERVISED_NAME_BYTES = 128 };

struct supervised;

/* Takes the words out of the environment: they are for this process alone. */
int supervised_new(struct supervised **out);
/* Closes what nobody has taken. NULL is fine. */
void supervised_free(struct supervised *supervised);

/* There is somebody to keep descriptors. */
bool supervised_keeps(const struct supervised *supervised);

/* Descriptors that were given: how many; a name, which is "" where there is none; the caller's from
 * now on. Taken ones are -1. */
size_t supervised_count(const struct supervised *supervised);
const char *supervised_name(const struct supervised *supervised, size_t number);
int supervised_peek(const struct supervised *supervised, size_t number);
int supervised_take(struct supervised *supervised, size_t number);

void supervised_say(struct supervised *supervised, const char *what); /* "READY=1" */
/* name: of letters, digits, dots and dashes. The descriptor stays the caller's. */
void supervised_store(struct supervised *supervised, const char *name, int descriptor);
void supervised_forget(struct supervised *supervised, const char *name);

#endif

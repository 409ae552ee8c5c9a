/*
 * rooms.h - the users of the host service: a process for each, which runs as that user.
 *
 *   callers.h, door.h -> rooms_enter, rooms_by_token -> room_link.h -> the room's process
 *
 * What a user's programs send is read by that process alone: it cannot reach another user's, and has
 * no rights that he has not.
 *
 * Ownership  rooms_leave ends the processes, and waits for them; rooms_free after loop_free.
 * Threads    The host's one thread.
 * Errors     Said on stderr; NULL or false.
 */
#ifndef ISOSCOPE_ROOMS_H
#define ISOSCOPE_ROOMS_H

#include "../feeds/feed_hello.h"
#include "../service/address.h"
#include "room_link.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct rooms;

enum { ROOMS_MAX = 256 };

struct room {
    uid_t uid;
    gid_t gid;
    char user[ROOM_USER_BYTES]; /* his name, or his number */
    char token[TOKEN_TEXT_BYTES];
    struct rooms *rooms;
    struct io_watch *watch; /* NULL: its process has ended, or was not started yet */
    int link;               /* the loop's descriptor */
    pid_t process;          /* 0: none */
    bool adopted;           /* it is to get feeds of a service before this one */
    int64_t ended_ms;       /* 0: never */
};

struct rooms_options {
    struct loop *loop;
    const char *socket; /* programs' */
    const char *state;  /* the folder above those of what is kept for users; NULL: nothing is */
    uint16_t port;
    char *const *words; /* options for the rooms' processes, up to a NULL */
    bool keeps_tables;  /* feeds outlive this process, so their tables must */
    void (*entered)(void *context, const struct room *room); /* a user who is new; NULL is fine */
    void *context;
};

int rooms_new(struct rooms **out, const struct rooms_options *options);
void rooms_leave(struct rooms *rooms); /* NULL is fine */
void rooms_free(struct rooms *rooms);  /* NULL is fine */

/* The user's, with its process running. NULL: that cannot be. */
struct room *rooms_enter(struct rooms *rooms, uid_t uid, gid_t gid);
/* The same without its process: of one that gets feeds of a service before this one. */
struct room *rooms_prepare(struct rooms *rooms, uid_t uid, gid_t gid);
/* Has room for one more message. */
bool room_takes(const struct room *room);

/* In order of arrival; NULL at the end. */
struct room *rooms_at(struct rooms *rooms, size_t number);

/* Whose folder has the tables that programs of a service before this one have mapped. */
bool rooms_have_tables(const struct rooms *rooms, uid_t uid);

#endif

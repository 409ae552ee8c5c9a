/*
 * room_link.h - what the host service tells the process that serves one user.
 *
 *   host -- BEGIN, FEED + descriptors, CLIENT + descriptor --> room (room_serve.h)
 *
 * Nothing comes back: the room runs as the user, so nothing that it says could be believed. The end
 * of one process is the end of the link for the other.
 *
 * Ownership  Sending keeps the descriptors, receiving gives them to the caller.
 * Threads    Any; no state.
 */
#ifndef ISOSCOPE_ROOM_LINK_H
#define ISOSCOPE_ROOM_LINK_H

#include "../feeds/feed_hello.h"
#include "../service/address.h"

#include <stdbool.h>

enum { ROOM_LINK_FD = 3, ROOM_TABLES_BYTES = 128, ROOM_STATE_BYTES = 256, ROOM_USER_BYTES = 40 };

enum room_word {
    ROOM_BEGIN = 1, /* first, and once */
    ROOM_FEED,      /* a program of the user's said hello; as in feed_greeting */
    ROOM_CLIENT,    /* a connection to the port, with the user's token; nothing was read of it */
};

struct room_begin {
    uint16_t port;
    bool tables_continue; /* profile.h */
    char token[TOKEN_TEXT_BYTES];
    char tables[ROOM_TABLES_BYTES];
    char user[ROOM_USER_BYTES];   /* his name, or his number */
    char state[ROOM_STATE_BYTES]; /* a folder of his; "": nothing is kept */
};

struct room_message {
    uint32_t word;
    union {
        struct room_begin begin;
        struct feed_greeting feed;
    };
};

/* Two ends, which do not block. */
int room_link_new(int ends[2]);
/* There is room for another message. */
bool room_link_has_room(int end);
bool room_link_begin(int end, const struct room_message *begin);
bool room_link_feed(int end, const struct feed_greeting *greeting);
bool room_link_client(int end, int client);

enum room_received { ROOM_RECEIVED_NOTHING, ROOM_RECEIVED, ROOM_RECEIVED_END };

/* client: of ROOM_CLIENT. A feed's descriptors are in its greeting. */
enum room_received room_link_receive(int end, struct room_message *out, int *client);

#endif

/*
 * feed_hello.h - reads what a program sends over the feed's socket, and believes none of it.
 *
 * Ownership  The descriptors in a feed_greeting are the caller's.
 * Threads    Any; no state.
 */
#ifndef ISOSCOPE_FEED_HELLO_H
#define ISOSCOPE_FEED_HELLO_H

#include "../../sampler/feed/message.h"

#include <sys/types.h>

enum feed_received {
    FEED_RECEIVED_NOTHING, /* not now */
    FEED_RECEIVED_HELLO,
    FEED_RECEIVED_ASK, /* a client asks where the page is; only uid and gid are filled */
    FEED_RECEIVED_END, /* the other side has closed it */
    FEED_RECEIVED_NONSENSE,
};

struct feed_greeting {
    int memfd, clock, faults; /* -1: there is none */
    uid_t uid;                /* whose process it is, by the kernel's word */
    gid_t gid;
    pid_t pid, ppid; /* as this process sees them; ppid 0: not known */
    uint32_t origin; /* feed_origin */
    char exe[FEED_EXE_BYTES];
};

#define FEED_OF_EVERYBODY ((uid_t)-1)

/* The next message of a socket that does not block. out is filled for a hello and an ask only.
 * owner: whose processes may say hello, or FEED_OF_EVERYBODY; root's may too, and could do anything
 * without it. */
enum feed_received feed_receive(struct feed_greeting *out, int socket, uid_t owner);

#endif

/*
 * callers.h - who calls at the host's unix socket: programs with their feeds, and users who ask where
 * their page is.
 *
 *   hello -> the room of whose process it is (by SO_PEERCRED)
 *   ask   -> lines of text: "UID USER URI", the asker's own first; of an admin, everybody's
 *
 * A caller that does not speak as message.h says is closed, and costs nothing but that.
 *
 * Ownership  Connections belong to the loop; free after loop_free.
 * Threads    The host's one thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_CALLERS_H
#define ISOSCOPE_CALLERS_H

#include <stdint.h>
#include <sys/types.h>

struct callers;
struct kept_feeds;
struct loop;
struct rooms;

struct callers_options {
    struct rooms *rooms;
    uid_t owner; /* whose programs may come, or FEED_OF_EVERYBODY */
    uint16_t port;
    const char *admin_group; /* whose members see all users; NULL: root alone */
    struct kept_feeds *kept; /* NULL: none are */
};

/* Takes over listener, also on failure. */
int callers_new(struct callers **out, struct loop *loop, int listener,
                const struct callers_options *options);
void callers_free(struct callers *callers); /* NULL is fine */

#endif

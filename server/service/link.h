/*
 * link.h - what isoscope and its service, a process of its own, tell each other.
 *
 *   isoscope <-- READY ------------------- service
 *            --- STARTED, ENDED, LEAVE -->
 *
 * The end of one process is the end of the link for the other.
 *
 * Errors     link_new: 0 or -ISOSCOPE_SYSTEM. Whoever has nobody to tell any more hears it from the
 *            kernel in another way.
 */
#ifndef ISOSCOPE_LINK_H
#define ISOSCOPE_LINK_H

#include "../../sampler/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum link_word {
    LINK_READY = 1, /* the service takes feeds and clients */
    LINK_STARTED,   /* the program: exit.pid */
    LINK_ENDED,     /* the program: exit */
    LINK_LEAVE,     /* somebody wants the service to end now */
};

struct link_message {
    uint32_t word;
    struct profile_exit exit;
};

int link_new(int ends[2]);
void link_tell(int end, const struct link_message *message);
/* Waits for the next message. False: the other side has gone. */
bool link_hear(int end, struct link_message *out);

#endif

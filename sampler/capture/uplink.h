/*
 * uplink.h - the hello to the service, which takes the feed and the clock along.
 *
 * The socket is closed again: what there is to say later stands in the feed (layout.h).
 *
 * Threads    Whoever starts the sampler.
 * Errors     A descriptor or 0, or -ISOSCOPE_NO_SERVICE.
 */
#ifndef ISOSCOPE_UPLINK_H
#define ISOSCOPE_UPLINK_H

#include "../feed/message.h"
#include "../feed/signal_safe.h"

/* What goes along with a hello; -1: there is none. */
struct uplink_feed {
    int memfd, clock, faults;
};

struct uplink_address {
    char path[108];   /* of the service's feed socket */
    char tables[128]; /* of its tables' file */
};

/* Where the tables of a user of a service of many users are (layout.h). */
SIGNAL_SAFE void uplink_tables_of_user(char out[128], const struct uplink_address *address,
                                       uint32_t uid);
/* A socket to it, or -ISOSCOPE_NO_SERVICE. Never waits: a service that is too busy to take a
 * connection is no service. */
SIGNAL_SAFE int uplink_connect(const struct uplink_address *address);
/* Takes over uplink; -1: it connects now, so that the service finds the hello as soon as it hears
 * of the connection. */
SIGNAL_SAFE int uplink_hello(const struct uplink_address *address, int uplink,
                             enum feed_origin origin, struct uplink_feed feed);

#endif

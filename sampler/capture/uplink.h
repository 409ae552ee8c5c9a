/*
 * uplink.h - the socket to the service: hello with the segment, goodbye, and the service's end.
 *
 * Threads    uplink_hello: whoever starts the sampler. The rest: the sampler's thread.
 * Errors     uplink_hello: a descriptor, or a negative isoscope_error.
 */
#ifndef ISOSCOPE_UPLINK_H
#define ISOSCOPE_UPLINK_H

#include "../feed/message.h"

#include <stdbool.h>

struct uplink_address {
    char path[108];   /* of the service's feed socket */
    char tables[128]; /* of its tables' file */
};

/* Never waits: a service that is too busy to take a connection is no service. clock: the
 * user clock's descriptor; -1: there is none. */
int uplink_hello(const struct uplink_address *address, enum feed_origin origin, int memfd,
                 int clock);
/* False when the service has gone, or has refused the hello. */
bool uplink_poll(int fd);
/* There are modules in the feed whose tables are wanted. */
void uplink_look(int fd);
void uplink_goodbye(int fd);

#endif

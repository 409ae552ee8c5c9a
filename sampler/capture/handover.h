/*
 * handover.h - descriptors out of the sampler's own descriptor table into the program's, for as
 * long as the sampler's thread is away (standstill.h).
 *
 *   handover_open (program's thread) -> handover_send (sampler's) -> handover_take (program's)
 *
 * They travel in one datagram between two unix sockets of this process; what anybody else sends
 * there is passed over.
 *
 * Ownership  What handover_take gives is the caller's; it always closes the inbox.
 * Threads    No libc but memory functions: any thread, the sampler's too.
 * Errors     0, or -errno.
 */
#ifndef ISOSCOPE_HANDOVER_H
#define ISOSCOPE_HANDOVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

enum { HANDOVER_MAX = 3 };

struct handover {
    int inbox;
    struct sockaddr_un name;
    uint32_t name_bytes;
};

int handover_open(struct handover *out);
int handover_send(const struct handover *to, const int *fds, size_t count);
/* Returns how many came, 0 to HANDOVER_MAX; they are close-on-exec. */
int handover_take(struct handover *from, int fds[HANDOVER_MAX]);

#endif

/*
 * listener.h - the one TCP port, on 127.0.0.1 and nowhere else, or a unix socket.
 *
 * Errors     0, or -ISOSCOPE_SYSTEM with errno of the call that failed.
 */
#ifndef ISOSCOPE_LISTENER_H
#define ISOSCOPE_LISTENER_H

#include <stdint.h>

/* port: 0 for a free one, then changed to the one that was found. *fd is the caller's. */
int listener_open(int *fd, uint16_t *port);

/* Of one that was opened elsewhere. */
uint16_t listener_port(int fd);

/*
 * A socket at path that only its owner may connect to. What a killed service left there goes; a
 * socket that somebody listens to stays (EADDRINUSE), and so does what is no socket (EEXIST).
 */
int listener_open_unix(int *fd, const char *path);

#endif

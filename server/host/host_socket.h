/*
 * host_socket.h - the unix socket at which programs and users call.
 *
 * Errors     0, or -ISOSCOPE_SYSTEM with errno.
 */
#ifndef ISOSCOPE_HOST_SOCKET_H
#define ISOSCOPE_HOST_SOCKET_H

#include <stdbool.h>

/* What a killed service left at path goes; a socket that somebody listens to stays (EADDRINUSE), and
 * so does what is no socket (EEXIST). everybody: all users may connect, else the owner alone. */
int host_socket_open(int *out, const char *path, bool everybody);

#endif

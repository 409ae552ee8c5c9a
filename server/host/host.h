/*
 * host.h - a service for all programs of a machine, each user's apart.
 *
 *   programs --hello--> callers \
 *   browsers --token--> door    -> rooms: a process for each user, with a profile and his rights
 *   users    --ask----> callers /
 *
 * This process holds the two sockets and the tokens. It reads no feed, no sample and no request but
 * its head.
 *
 * Errors     Said on stderr.
 */
#ifndef ISOSCOPE_HOST_H
#define ISOSCOPE_HOST_H

struct host_options;

/* words: the options again, up to a NULL, for the rooms' processes. Returns the exit status. */
int host_serve(const struct host_options *options, char *const *words);

#endif

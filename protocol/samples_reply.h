/*
 * samples_reply.h - what the handlers that stream samples share.
 */
#ifndef ISOSCOPE_SAMPLES_REPLY_H
#define ISOSCOPE_SAMPLES_REPLY_H

#include "client.h"

/* No more than so many snapshots are held for one client (dispatch.h). */
bool samples_reply_waits(const struct client *client);
/* A snapshot for the request that is answered now, taken in as many turns as it needs. 0, or a
 * handler's return value. */
int samples_reply_take(struct client *client, const struct snapshot_window *window,
                       struct snapshot **out);
/* What the request is answered with before the result's value; the caller frees it. */
char *samples_reply_envelope(const struct client *client);
/* JSON of "_counters" of one process, or (NULL) of all; the caller frees it. */
char *samples_reply_counters(const struct client *client, const struct process_info *process);
/* Of the process, or of the first; 0: there is none. */
int32_t samples_reply_pid(const struct client *client, const struct process_info *process);
/* A negative error of snapshot_take or live_take as a handler's return value. */
int samples_reply_fail(struct client *client, int error);
void samples_reply_free_text(char **text);

#endif

/*
 * samples_reply.h - how every reply begins that is written while it is sent.
 *
 *   isolate, window -> samples_reply_begin (waits for room, takes in turns) -> a writer -> reply
 *
 * No more than a few snapshots are held for one client: beyond them a request waits.
 *
 * Ownership  Of what begin gives, the writer takes over snapshot or live; the texts end with
 *            samples_reply_end, which is due whatever begin returned.
 */
#ifndef ISOSCOPE_SAMPLES_REPLY_H
#define ISOSCOPE_SAMPLES_REPLY_H

#include "answer.h"
#include "client.h"
#include "../../sampler/profile/follow.h"

struct samples_reply {
    struct snapshot *snapshot; /* or live; none of both, where none was asked for */
    struct follow *follow;
    const struct process_info *process; /* whose samples they are; NULL: all processes' */
    char *envelope;                     /* the reply's text before the value of "result" */
    char *counters;                     /* JSON of "_counters" */
    int32_t pid;                        /* of the process, or of the first; 0: there is none */
};

/* isolate: whose samples, which goes into the window; NULL: of all. 0, or what the handler is to
 * return. */
int samples_reply_begin(struct client *client, struct reply *reply, const struct isolate *isolate,
                        struct snapshot_window *window, struct samples_reply *out);
int samples_reply_begin_follow(struct client *client, struct reply *reply,
                               const struct isolate *isolate, struct follow_window *window,
                               struct samples_reply *out);
/* Without samples. */
int samples_reply_begin_empty(struct client *client, struct reply *reply,
                              struct samples_reply *out);
void samples_reply_end(struct samples_reply *begun);

/* A snapshot alone, for an answer that is a tree: 0, or what the handler is to return. */
int samples_reply_take(struct client *client, struct reply *reply,
                       const struct snapshot_window *window, struct snapshot **out);

/* 0 while the profiler is on; else the error that the public methods give. */
int samples_reply_enabled(struct client *client);
/* A negative isoscope_error as a handler's return value; 0 is 0. */
int samples_reply_result(struct client *client, int error);

#endif

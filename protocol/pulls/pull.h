/*
 * pull.h - one profile that is pulled: its window passes, its samples are taken and summed up in
 * turns, and it becomes a reply.
 *
 *   pull_new -> pull_poll (time passes, names come) -> pull_work -> pprof_writer, otlp_writer -> the client's outbox
 *
 * The samples are in the store anyhow: windows of several pulls may overlap, and cost nothing while
 * they last. The window ends early with the last process. Names that are not read in time are left
 * out: who pulls gives up soon after the window.
 *
 * Threads    The service thread.
 * Errors     Out of memory, or a damaged session, closes the client.
 */
#ifndef ISOSCOPE_PULL_H
#define ISOSCOPE_PULL_H

#include "pull_paths.h"
#include "../client/client.h"

struct pull;

/* So many are taken and summed up at once; others wait for their turn. */
enum { PULLS_AT_WORK_MAX = 4 };

struct pull_wish {
    uint32_t seconds;          /* 0: all that is kept */
    int64_t from_us, until_us; /* not 0: these instead, which have passed */
    bool few_labels;
    const struct pull_otlp *otlp; /* service.h; NULL: pprof's format */
    int64_t names_us;             /* are waited for; 0: by the window's length */
};

/* NULL: out of memory. */
struct pull *pull_new(struct service *service, const struct pull_path *path,
                      const struct pull_wish *wish);
void pull_free(struct service *service, struct pull *pull); /* NULL is fine */

/* In service_poll: what it waited for may have come. */
void pull_poll(struct service *service, struct pull *pull);
/* pull_work would do something. */
bool pull_works(const struct service *service, const struct pull *pull);
void pull_work(struct client *client, struct pull *pull);
void pull_hurry(struct service *service, struct pull *pull, int64_t names_us);
/* How many entries the profile that it handed over has. */
uint32_t pull_samples(const struct pull *pull);

#endif

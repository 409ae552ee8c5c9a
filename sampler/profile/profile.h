/*
 * profile.h - a live profile: feeds in (here), snapshots out (snapshot.h), changed by control.h,
 * beside them what the machine knows (facts.h).
 *
 *   server hands over memfds -> collector thread drains them -> store -> snapshot_take
 *                                             symbol worker names modules
 *
 * Threads    profile_start makes them: the collector, the symbol worker, wall mode's rounds, the
 *            watcher of loops and the teller of stalls. Without it nothing runs by itself:
 *            profile_sync drains and snapshot_take symbolizes in the caller (tests do that). All
 *            calls are for any thread.
 * Ownership  The profile owns memfds given to it.
 */
#ifndef ISOSCOPE_PROFILE_H
#define ISOSCOPE_PROFILE_H

#include "control.h"

struct profile_options {
    size_t store_bytes; /* bound of each kind's store, and of that of events; 0: 64 MiB */
    struct feed_settings settings; /* of period_us and depth_max 0 is the feed's default */
    const char *tables_path; /* of a file to make, that programs map; NULL: they get no tables,
                              * and walk stacks by the modules' own data, which costs more */
    bool tables_continue; /* the file is written on, and stays: programs may have it mapped from a
                           * service before this one, whose feeds this one gets */
    bool no_symbols; /* every pc is a function of its own, without a name: another machine has them
                      */
    bool debuginfod; /* asks the servers of $DEBUGINFOD_URLS for what is not on this machine */
    const char *source_root; /* the only folder that source text may come from; NULL: none */
    /* Called on the collector or symbol thread when processes, names or losses changed. It may only
     * wake somebody. */
    void (*changed)(void *context);
    void *context;
};

struct profile_peer {
    int32_t pid, ppid; /* pid as this process sees it */
    uint32_t origin;   /* feed_origin */
    int clock, faults; /* its user clock's and its page faults' descriptors, taken over; -1: none */
    const char *exe;
};

/* Why options.debuginfod is impossible, and what to do; NULL: it is possible. Static memory. */
const char *profile_debuginfod_problem(void);

int profile_new(struct profile **out, const struct profile_options *options);
/* Drains nothing, stops the threads, frees all. No snapshot may be left. NULL is fine. */
void profile_free(struct profile *profile);
int profile_start(struct profile *profile);
/* False: there is no file for them, or it could not be made. */
bool profile_has_tables(const struct profile *profile);
/* Why it could not: an errno. */
int profile_tables_problem(const struct profile *profile);

/* A process said hello. Takes over memfd, also on failure. process_id may be NULL. */
int profile_attach(struct profile *profile, int memfd, const struct profile_peer *peer,
                   uint64_t *process_id);
/* We are the parent of this process, and profile_exited will tell how it ended. Until then its end
 * is not shown, unless it was seen a second ago: one that stopped its sampler may run on. */
void profile_await_exit(struct profile *profile, int32_t pid);
/* How a process ended that was waited for. */
struct profile_exit {
    int32_t pid;
    int wait_status; /* waitpid's */
    uint64_t cpu_ns; /* of all its threads, and of the children that it waited for, and of theirs */
};

/* Its hello must have been handed over before. */
void profile_exited(struct profile *profile, const struct profile_exit *end);

#endif

/*
 * control.h - what the wire may change in a live profile. What it reads is in snapshot.h.
 *
 * Threads    Every call here is for any thread; but one at a time changes settings, as each change
 *            begins with what there is.
 *
 * A saved profile (saved.h) stays as it is: all this does nothing to it.
 */
#ifndef ISOSCOPE_CONTROL_H
#define ISOSCOPE_CONTROL_H

#include "snapshot.h"
#include "stalls.h"

/* Tells all processes, and those to come. Period and depth are clamped to the feed's range. */
void profile_apply_settings(struct profile *profile, const struct feed_settings *settings);

/* What is wanted of one process, where it is not what is asked of all. */
struct process_settings {
    bool given;
    bool enabled;
    uint32_t period_us; /* 0: that of all */
};

/* False: no such process, or it has ended. Its settings end with it, or with others that are not
 * given. */
bool profile_apply_process_settings(struct profile *profile, uint64_t process_id,
                                    const struct process_settings *settings);

/* Forgets the samples of one process (0: of all). Sampling goes on. */
void profile_clear(struct profile *profile, uint64_t process_id);

/* The same for one thread of it. */
void profile_clear_thread(struct profile *profile, uint64_t process_id, int32_t tid);

/* Drains the feeds now, so that what was sampled before the call is in the next snapshot. */
void profile_sync(struct profile *profile);

/* Whether profile_options.changed is called for new samples too, at most four times a second. */
void profile_follow(struct profile *profile, bool follows);

/* Which loops are watched, and from when on they are late. Limits are made to grow: each is at least the one
 * before it, and at least 1. */
void profile_apply_stall_settings(struct profile *profile, const struct stall_settings *settings);
/* Forgets the stalls of one process (0: of all) that have ended, and what is counted of its loops. */
void profile_stalls_clear(struct profile *profile, uint64_t process_id);

/* Which streams of events programs write: these (names as profile_timeline_streams has them), and with
 * others also those that become known later. A stream that is off costs a program nothing. 0 or
 * -ISOSCOPE_NO_MEMORY. */
int profile_timeline_record(struct profile *profile, const char *const *names, size_t count,
                            bool others);
/* Forgets the events of one process (0: of all). What stands open stays so. */
void profile_timeline_clear(struct profile *profile, uint64_t process_id);

#endif

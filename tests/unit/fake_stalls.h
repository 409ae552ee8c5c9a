/*
 * fake_stalls.h - stalls without a loop: the test says what is known of them.
 *
 *     struct stall stall = fake_stall(process_id, 1);
 *     stall.cause = STALL_CAUSE_LOCK;
 *     fake_stall_put(profile, &stall);        it began
 *     stall.ongoing = false;
 *     fake_stall_put(profile, &stall);        and ended: one number is one stall
 */
#ifndef FAKE_STALLS_H
#define FAKE_STALLS_H

#include "sampler/profile/parts.h"
#include "sampler/profile/stalls/stall_log.h"

#include <stdlib.h>

/* One that goes on: 300 ms of a loop "worker" of thread 7, in which b was on top for 250 ms. */
static inline struct stall fake_stall(uint64_t process_id, uint64_t number)
{
    static const char *const functions[] = { "b", "a()", "main" };
    static const char *const prefix[] = { "main", "a()" };
    static const struct stall_run runs[] = { { "a()", 1000000000, 1050000000, 10 },
                                             { "b", 1050000000, 1300000000, 50 } };
    static const struct stall_stack stacks[] = { { 1250000000, FEED_STATE_RUNNING, 3, functions },
                                                 { 1255000000, FEED_STATE_RUNNING, 3, functions } };

    return (struct stall){
        .number = number,
        .process_id = process_id,
        .loop = 1,
        .name = "worker",
        .tid = 7,
        .thread_name = "main",
        .level = STALL_LEVEL_STALL,
        .ongoing = true,
        .told = true,
        .equals = 1,
        .limit_ns = 250000000,
        .start_ns = { 1000000000, 1002000000 },
        .duration_ns = { 300000000, 302000000 },
        .cause = STALL_CAUSE_BUSY,
        .evidence = { .running_ns = 299000000, .descriptor = -1 },
        .culprit = { "b", "app", "/src/b.c", 12 },
        .caller = { "a()", "app", "/src/a.cc", 34 },
        .culprit_ns = 250000000,
        .culprit_looks = 50,
        .looks = 60,
        .prefix_count = 2,
        .prefix = prefix,
        .run_count = 2,
        .runs = runs,
        .stack_count = 2,
        .stacks = stacks,
    };
}

static inline void fake_stall_put_into(struct stall_log *log, const struct stall *stall)
{
    struct kept_stall *kept = kept_stall_new(stall);

    if (!kept || stall_log_restore(log, kept) < 0)
        abort();
}

/* Readers see it, in place of what they saw of that number. */
static inline void fake_stall_put(struct profile *profile, const struct stall *stall)
{
    fake_stall_put_into(profile->stalls, stall);
}

#endif

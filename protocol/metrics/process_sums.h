/*
 * process_sums.h - what counts of processes, by their names. What a process has counted stays in the sum when
 * the profile knows it no longer: a counter never falls but for a clear.
 *
 * A name that comes when there are PROCESS_NAMES_MAX is counted as "other".
 *
 * Ownership  The caller owns a struct process_sums; zeroed is empty.
 * Errors     -ISOSCOPE_NO_MEMORY: the sums are what they were.
 */
#ifndef ISOSCOPE_PROCESS_SUMS_H
#define ISOSCOPE_PROCESS_SUMS_H

#include "../../sampler/profile/snapshot.h"

enum { PROCESS_NAMES_MAX = 100 };

#define METRICS_OTHER "other"

struct process_name {
    char name[64];
    uint64_t samples, gone_samples; /* gone: of processes that are known no longer */
    uint64_t live;
};

struct process_counts {
    uint64_t samples, upkeep_ns;
    uint64_t lost[FEED_LOSS_COUNT];
};

/* A process as it was when it was looked at last. */
struct seen_process {
    uint64_t id;
    uint32_t name;
    struct process_counts counts;
};

struct process_sums {
    struct process_name names[PROCESS_NAMES_MAX + 1]; /* the last: all others */
    uint32_t name_count;
    struct seen_process *seen; /* by id */
    size_t seen_count;
    struct process_counts sum, gone;
};

int process_sums_look(struct process_sums *sums, struct profile *profile);
/* The name that a process is counted by; METRICS_OTHER where nobody knows it. */
const char *process_sums_name(const struct process_sums *sums, uint64_t process_id);
void process_sums_free(struct process_sums *sums);

#endif

/*
 * pprof_samples.h - a profile's samples: all of one stack, thread, tag and state are one entry
 * with their sums.
 *
 *   snapshot_sample -> pprof_samples_add -> sums; pprof_samples_put -> the entry's bytes
 *
 * Labels: thread, tid, process, pid, tag, state, and stack: "cut" where the outer end is missing.
 * For engines that keep a series for each set of labels there are few: process, and tag where the
 * program set one, PPROF_FEW_TAGS of them; a further one is "other".
 *
 * Bounds     PPROF_STACKS_BYTES of different stacks; what comes then with a new one is counted for
 *            the stack PPROF_OTHERS.
 * Ownership  The user's struct; all zeros is an empty one, pprof_samples_free ends it.
 * Errors     Out of memory sets failed.
 */
#ifndef ISOSCOPE_PPROF_SAMPLES_H
#define ISOSCOPE_PPROF_SAMPLES_H

#include "pprof_tables.h"

#define PPROF_OTHERS "[more different stacks than there is room for]"

enum { PPROF_FEW_TAGS = 32, PPROF_PAIRS_MAX = 2, PPROF_STACKS_BYTES = 64 << 20 };

/* Of each pair of columns: how many, and how much (nanoseconds, bytes). */
struct pprof_sums {
    double many[PPROF_PAIRS_MAX];
    uint64_t amount[PPROF_PAIRS_MAX];
};

struct pprof_samples {
    struct interned sources; /* what labels say; the same number has */
    struct json_text labels; /* ... its labels here, up to */
    size_t *label_ends;
    uint32_t label_capacity;
    struct interned stacks;  /* source, then locations, leaf first, as uint32_t */
    struct pprof_sums *sums; /* by number of the stack */
    uint32_t sum_capacity;
    struct json_text key;
    size_t stacks_bytes_max; /* 0: PPROF_STACKS_BYTES */
    bool few;                /* of labels; set before the first sample is added */
    struct interned tags;    /* then: those that have a label of their own */
    bool overflowed, failed;
};

/* process: the name of the sample's. Returns how much work that was. */
uint32_t pprof_samples_add(struct pprof_samples *samples, struct pprof_tables *tables,
                           const struct snapshot_sample *sample, const struct process_info *process,
                           const char *state, unsigned pair);
/* The entry of that number, with its sums in so many pairs of columns. */
void pprof_samples_put(struct pprof_samples *samples, struct json_text *out, uint32_t number,
                       unsigned pairs);

/* What such an entry is made of, lent until the next sample is added. */
struct pprof_entry {
    const char *locations; /* leaf first: pprof_entry_location */
    size_t depth;
    const struct pprof_sums *sums;
    const char *labels; /* fields of a sample, of the form that the tables have */
    size_t labels_length;
};

struct pprof_entry pprof_samples_entry(const struct pprof_samples *samples, uint32_t number);
uint32_t pprof_entry_location(const struct pprof_entry *entry, size_t number);
/* The value in that column. */
uint64_t pprof_sums_value(const struct pprof_sums *sums, unsigned column);
uint32_t pprof_samples_count(const struct pprof_samples *samples);
bool pprof_samples_failed(const struct pprof_samples *samples);
void pprof_samples_free(struct pprof_samples *samples);

#endif

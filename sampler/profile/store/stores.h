/*
 * stores.h - one store for each kind of sample, and a process's part of each.
 *
 *   drain (a sample into the store of its kind) -> stores -> the window of one kind
 *
 * A store weighs all its samples alike, so shares are of one kind only. What is asked of no kind
 * (version, clear) is asked of all stores. A history is of SAMPLES_OF_TIME, whose bound is the user's;
 * looks at late loops have an eighth of it besides, and next to nothing where no loop is late; allocations
 * have as much, where they are sampled, and so have waits.
 *
 * Ownership  Whoever has the struct owns what is in it.
 * Threads    As store.h.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; then *_free and *_release are still due.
 */
#ifndef ISOSCOPE_STORES_H
#define ISOSCOPE_STORES_H

#include "live_sets.h"
#include "store.h"

struct stores {
    struct store *of[SAMPLE_KINDS];
    struct live_sets *live; /* what SAMPLES_OF_LIVE shows when somebody looks */
};

/* A process as each store knows it. */
struct owners {
    struct owner *of[SAMPLE_KINDS];
};

int stores_new(struct stores *stores, size_t bytes_max); /* bytes_max: of SAMPLES_OF_TIME */
void stores_free(struct stores *stores);                 /* zeros are fine */

uint64_t stores_version(const struct stores *stores);
struct profile_history stores_history(const struct stores *stores);

int owners_new(struct owners *owners, uint64_t process_id);
void owners_release(struct owners *owners); /* zeros are fine */
uint64_t owners_unstored(const struct owners *owners);

/* Before the views of a kind are asked for. */
int stores_show(const struct stores *stores, enum sample_kind kind);

/* A store has a sample of the process. */
bool stores_have_samples(const struct stores *stores, const struct owners *owners);
/* Of what is no time: process_info.others. */
uint64_t stores_count_others(const struct stores *stores, const struct owners *owners);
void stores_clear(const struct stores *stores, const struct owners *owners);
void stores_clear_thread(const struct stores *stores, const struct owners *owners, int32_t tid);

#endif

/*
 * thread_isolates.h - which threads are isolates of their own, beside their process.
 *
 * Those with a name of their own (another than the process' first thread, from which the others
 * inherit it), and the busiest others; only in processes where several threads were sampled. At
 * most THREAD_ISOLATES_MAX of them, so that connecting costs a client little. Who was chosen stays
 * while its process lives or there are samples of it: a client that looks at a thread does not lose
 * it to a busier one, nor by clearing it. When there are too many, those without samples give way,
 * and to a named thread the least busy unnamed one.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_THREAD_ISOLATES_H
#define ISOSCOPE_THREAD_ISOLATES_H

#include "../../sampler/profile/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    THREAD_ISOLATES_MAX = 16,
    /* An unnamed thread with fewer samples is no isolate: it may be gone before a client asks. */
    THREAD_SAMPLES_MIN = 20,
};

struct thread_isolate {
    uint64_t process_id;
    struct profile_thread thread;
    bool named;
};

struct thread_isolates {
    struct thread_isolate items[THREAD_ISOLATES_MAX]; /* in the order they were chosen */
    size_t count;
    uint64_t seen; /* a sum over all samples: while it stands, nothing has to be looked at */
};

/* Lets go of those that are gone, and chooses more. */
void thread_isolates_update(struct thread_isolates *chosen, struct profile *profile,
                            const struct process_info *processes, size_t count);

#endif

/*
 * stall_log_state.h - what stall_log*.c share.
 *
 * Threads    Everything here is under the log's lock.
 */
#ifndef ISOSCOPE_STALL_LOG_STATE_H
#define ISOSCOPE_STALL_LOG_STATE_H

#include "stall_log.h"

#include <pthread.h>

/* One that readers see. */
struct listed {
    struct kept_stall *kept;
    struct open_stall *open; /* NULL: nothing more will come of it */
    struct listed *previous, *next;
};

/* One that the watcher reports, until the teller is done with it. */
struct open_stall {
    uint64_t id, mark;
    struct stall stall; /* what the reports say; its texts are these: */
    char name[256], thread_name[64];
    bool reached, ended;
    bool counted; /* in stall_counts */
    bool news;    /* it was reported since the teller last looked */
    int64_t due_ns;
    struct stall_notes notes;
    struct listed *listed; /* NULL: never published, or evicted */
    struct open_stall *previous, *next;
};

struct stall_log {
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool woken;
    uint32_t count_max, count;
    size_t bytes_max, bytes;
    uint64_t change, number, id;
    uint32_t open_count;
    struct open_stall *open;
    struct listed *first, *last; /* by change */
    struct stall_counts counts;
    struct limits limits;
};

/* NULL: it is closed. */
struct open_stall *stall_log_open(struct stall_log *log, uint64_t id);
void stall_log_close(struct stall_log *log, struct open_stall *open);
void stall_log_remove(struct stall_log *log, struct listed *listed);

#endif

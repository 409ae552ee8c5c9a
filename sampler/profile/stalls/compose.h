/*
 * compose.h - a stall as it is told: what the watcher reports, with what the samples say of it.
 *
 *   teller -> compose (gather, culprit; the holder's place, the open slice) -> struct stall
 *
 * Ownership  composition_free. It points into itself: do not move it.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_COMPOSE_H
#define ISOSCOPE_COMPOSE_H

#include "gather.h"
#include "stall_log.h"

struct composition {
    struct stall stall;
    uint64_t key, newest; /* as struct culprit's; 0: nothing was seen of it */
    bool complete;        /* all names are known */
    struct gathered gathered;
    struct culprit culprit;
    struct stall_run runs[STALL_RUNS_MAX];
    const char *prefix[STALL_PREFIX_MAX];
    struct stall_stack stacks[STALL_STACKS_MAX];
    const char **functions; /* of the stacks */
};

int compose(struct composition *out, struct profile *profile, const struct stall_task *task,
            int64_t now_ns);
void composition_free(struct composition *made);

#endif

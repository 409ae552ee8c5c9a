/*
 * target_state.h - inside of target.h: what its files share.
 */
#ifndef ISOSCOPE_TARGET_STATE_H
#define ISOSCOPE_TARGET_STATE_H

#include "target.h"
#include "target_threads.h"

#include "../../capture/modules/modules.h"
#include "../../capture/unwind/unwind.h"
#include "../../feed/feed_writer.h"

struct target {
    pid_t pid;
    struct feed_writer writer;
    struct modules modules;
    struct target_threads threads;
    struct unwind_sleeper sleeper;
    struct sleeper_scan *scan;          /* NULL: none was needed yet */
    const struct target_sample *walked; /* whose stack the walk reads */
    bool beyond;                        /* ... and it wanted more of it than there is */
    bool code_changed, unknown_code;
    bool threads_known; /* they were looked at once */
    uint32_t heap;      /* of samples that were read together */
    uint64_t before_ns; /* CPU time that it had used by then */
    int64_t opened_ns, looked_ns, unknown_wait_ns;
};

struct feed_status *target_status(struct target *target);
/* frames: room for feed_writer_depth_max. There is a map of the code. */
void target_walk(struct target *target, struct target_thread *thread,
                 const struct target_sample *from, uint64_t *frames, struct unwind_result *result);
/* Of the walk that was made last. */
enum target_outcome target_outcome_of(const struct target *target,
                                      const struct unwind_result *result);

#endif

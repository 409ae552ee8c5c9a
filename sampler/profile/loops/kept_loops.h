/*
 * kept_loops.h - what a session has kept of loops, for the doors of a saved profile (view/loops.c).
 *
 * Ownership  Who loads the session fills it; kept_loops_free gives it back, texts too, which are one each.
 */
#ifndef ISOSCOPE_KEPT_LOOPS_H
#define ISOSCOPE_KEPT_LOOPS_H

#include "../stalls.h"

struct kept_loops {
    struct loop_info *loops; /* by number; name and thread_name are malloced */
    uint32_t loop_count, loop_capacity;
    struct unwatched_thread *unwatched;
    uint32_t unwatched_count, unwatched_capacity;
    struct cpu_high *highs; /* by number */
    uint32_t high_count, high_capacity;
    struct stall_settings settings;
};

void kept_loops_free(struct kept_loops *kept); /* NULL is fine */

/* As in stalls.h. */
size_t kept_loops_tell(const struct kept_loops *kept, uint64_t process_id, struct loop_info *out,
                       size_t capacity);
size_t kept_loops_unwatched(const struct kept_loops *kept, uint64_t process_id,
                            struct unwatched_thread *out, size_t capacity);
size_t kept_loops_cpu_highs(const struct kept_loops *kept, uint64_t since, struct cpu_high *out,
                            size_t capacity);

#endif

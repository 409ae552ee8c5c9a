/*
 * late_waits.h - what a late thread was seen waiting in: which call, on what, and who has it.
 *
 *   /proc/PID/task/TID/syscall, fd/N, the futex' word -> late_waits_add -> stall_evidence
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_LATE_WAITS_H
#define ISOSCOPE_LATE_WAITS_H

#include "../stalls.h"
#include "futex_holder.h"
#include "system_calls.h"

/* Whom the numbers belong to. */
struct late_program {
    int32_t pid; /* here */
    bool
        numbers_here; /* its tids and pids are the same here; false: it has a namespace of its own */
};

enum { LATE_WAITS_MAX = 8 }; /* different ones; of more the shortest is forgotten */

struct late_waits {
    uint32_t count;
    struct late_wait {
        const struct system_call *call;
        long number;
        uint64_t on; /* the argument that says on what */
        enum call_waits waits;
        uint64_t for_ns;
        int32_t descriptor; /* -1: none */
        int32_t holder_tid; /* as the program numbers it; 0: not known */
        char holder[16];
        char path[256];
    } list[LATE_WAITS_MAX];
};

/* A look met the thread so; it stands for for_ns. Returns the wait, until the next call. */
struct late_wait *late_waits_add(struct late_waits *waits, const struct late_program *program,
                                 const struct blocked *blocked, uint64_t for_ns);
/* The longest one into what evidence says of a wait. */
void late_waits_tell(const struct late_waits *waits, struct stall_evidence *out);

#endif

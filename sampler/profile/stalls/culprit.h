/*
 * culprit.h - which function made a stall: out of the stacks that were seen of it, in time order.
 *
 *   gather (samples of the thread) -> culprit (story, culprit, prefix) -> teller
 *
 * A sample says what was on top until the next one came, but no longer than lasts_ns: a tick of a running
 * thread says nothing of a sleep behind it. A run is a row of samples with one function on top; its time is
 * the sum of theirs. The culprit is the function of the longest run, of equals the latest: runs are equal
 * that differ by less than one sample's time.
 *
 * Where a runtime runs functions, the people's own one nearest to the top is taken for the top: that
 * "time.sleep" ends in clock_nanosleep is no news to who wrote the call. What stands outside of the
 * loop's own start is of no dispatch.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  Everything is lent; the result points to nothing of it.
 */
#ifndef ISOSCOPE_CULPRIT_H
#define ISOSCOPE_CULPRIT_H

#include "../stalls.h"

/* A function is a number, the same for all of its code. */
struct culprit_frame {
    uint32_t function;
    uint32_t line; /* 0: not known */
};

struct culprit_stack {
    const struct culprit_frame *frames; /* leaf first */
    uint32_t depth;                     /* at least 1 */
    bool whole;                         /* down to the thread's first function */
    uint32_t top;                       /* what counts as on top: culprit_top */
};

struct culprit_sample {
    int64_t at_ns;
    int64_t lasts_ns; /* at most */
    uint32_t stack;   /* its number */
    uint8_t state;    /* feed_state */
};

struct culprit_function {
    uint64_t id; /* the same in each case */
    bool own;    /* the program's own code, not the system's */
    bool script; /* a runtime runs it */
    bool native; /* of a runtime itself */
    bool loop;   /* it runs an event loop: asyncio's run_forever */
};

struct culprit_case {
    const struct culprit_sample *samples; /* by time */
    uint32_t count;
    const struct culprit_stack *stacks;
    const struct culprit_function *functions;
    int64_t end_ns; /* of the stall, or now */
};

struct culprit_run {
    uint32_t function;
    int64_t from_ns, to_ns;
    int64_t known_ns; /* of its samples */
    uint32_t looks;
    uint32_t first,
        end; /* samples; of a run that others were merged into, those of its first part */
};

struct culprit {
    uint32_t run_count;
    struct culprit_run
        runs[STALL_RUNS_MAX];   /* the shortest were merged into the ones before them */
    struct culprit_run longest; /* as it was before others were merged into it */
    uint32_t looks;             /* with its function on top, in all runs */
    struct culprit_frame leaf;  /* on top in the run's last sample */
    bool script;                /* and a runtime runs what its stack is of */
    bool has_caller;
    struct culprit_frame caller; /* the own code nearest to the top, of most samples in the run */
    uint32_t prefix_count;
    uint32_t
        prefix[STALL_PREFIX_MAX]; /* functions that all whole stacks begin with, outermost first */
    uint64_t key;    /* of the culprit's stack: the run's common prefix, and its function */
    uint64_t newest; /* of the newest whole stack; 0: there is none */
};

/* Which frame of the stack counts as on top. */
uint32_t culprit_top(const struct culprit_function *functions, const struct culprit_stack *stack);
/* False: there are no samples. */
bool culprit_find(const struct culprit_case *facts, struct culprit *out);

#endif

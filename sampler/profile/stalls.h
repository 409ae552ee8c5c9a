/*
 * stalls.h - the door beside snapshot.h and timeline.h for loops: which were late, for how long, why, and which
 * function did it.
 *
 *   capture/loops (marks) -> loops/ (looks, times, causes) -> stalls/ (culprit, what is told) -> protocol/
 *
 * A stall is a dispatch of a loop that took longer than the loop's stall limit. It has a number when it is first
 * told, while it lasts; it is told again (updates) as stalls/annealing.h says, and when it ends. Its text is
 * kept with it, so that it says the same when the samples around it are long gone.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds. A range is what is known for certain: [min, max].
 * Ownership  stalls_take makes, stalls_free releases; all pointers live until then.
 * Threads    Every call here is for any thread; one struct stalls is used by one thread at a time.
 * Errors     0 or a negative isoscope_error; out stays untouched on failure.
 */
#ifndef ISOSCOPE_STALLS_H
#define ISOSCOPE_STALLS_H

#include "snapshot.h"

struct stalls;

/* The words are for the wire. A level is reached when the dispatch has taken as long as its limit says. */
#define STALL_LEVELS(X)                                                                            \
    X(JANK, "jank") /* counted only, in loop_info */                                               \
    X(STALL, "stall")                                                                              \
    X(HANG, "hang")                                                                                \
    X(DEAD, "dead")

#define STALL_CAUSES(X)                                                                            \
    X(UNKNOWN, "unknown", "why is not known")                                                      \
    X(BUSY, "busy", "it computed")                                                                 \
    X(LOCK, "lock", "it waited for another thread")                                                \
    X(IO, "io", "it waited for a descriptor or a disk")                                            \
    X(FAULT, "page-fault", "it waited for pages")                                                  \
    X(SLEEP, "sleep", "it slept by its own wish")                                                  \
    X(CHILD, "child", "it waited for another process")                                             \
    X(STARVED, "starved", "it wanted a processor and got none")                                    \
    X(HOST, "host", "the whole machine was late: so was isoscope")                                 \
    X(STOPPED, "stopped", "it was stopped by a signal or a debugger")

#define STALL_ENUM_LEVEL(name, ...) STALL_LEVEL_##name,
#define STALL_ENUM_CAUSE(name, ...) STALL_CAUSE_##name,
enum stall_level { STALL_LEVELS(STALL_ENUM_LEVEL) STALL_LEVEL_COUNT };
enum stall_cause { STALL_CAUSES(STALL_ENUM_CAUSE) STALL_CAUSE_COUNT };
#undef STALL_ENUM_LEVEL
#undef STALL_ENUM_CAUSE

struct stall_range {
    int64_t min, max;
};

/* What the kernel told of the loop's thread since the dispatch began. */
struct stall_evidence {
    uint64_t running_ns, runnable_ns, sleeping_ns; /* schedstat's; together about the duration */
    uint64_t faults;                               /* major ones */
    uint64_t host_late_ns;                         /* that the service's own looks came too late */
    /* What it waited in most; of looks that met it asleep. */
    char system_call[24];      /* ""; "futex", "read" */
    int32_t descriptor;        /* -1: none */
    char path[256];            /* the descriptor's; "" */
    int32_t holder_tid;        /* of the lock, or the process that it waits for; 0: not known */
    char holder[16];           /* that thread's name; "" */
    char holder_function[128]; /* where that one stands; "" */
};

enum { STALL_STACKS_MAX = 20, STALL_RUNS_MAX = 32, STALL_PREFIX_MAX = 64 };

struct stall_place {
    const char *function; /* "": not known */
    const char *library;  /* its name */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
};

/* The story of a stall: one function was on top from here to there. */
struct stall_run {
    const char *function;
    int64_t from_ns, to_ns;
    uint32_t looks;
};

struct stall_stack {
    int64_t at_ns;
    uint8_t state; /* feed_state */
    uint32_t depth;
    const char *const *functions; /* leaf first */
};

struct stall {
    uint64_t number; /* 1, 2, ... in the order in which they were first told */
    uint64_t change; /* of the window's order; grows with each update */
    uint64_t process_id;
    uint32_t loop;    /* loop_info.number */
    const char *name; /* the loop's */
    int32_t tid;
    const char *thread_name;
    enum stall_level level; /* the highest so far */
    bool ongoing;
    bool told;        /* false: equal ones were told often enough (annealing.h): listed, no event */
    uint32_t equals;  /* stalls of this loop with this culprit so far, this one too */
    uint32_t updates; /* so far */
    int64_t limit_ns; /* that it went over */
    struct stall_range start_ns, duration_ns; /* ongoing: so far */
    enum stall_cause cause;
    struct stall_evidence evidence;
    /* The longest run of one function on top, the latest of equals. */
    struct stall_place culprit;
    struct stall_place
        caller; /* the first frame of the program's own code, from the culprit on; may be it */
    int64_t culprit_ns;     /* of that run */
    uint32_t culprit_looks; /* with it on top, in all runs */
    uint32_t looks;         /* all */
    const char *tag;        /* what the program said: its tag, NULL: none */
    const char *slice;      /* the slice that stood open in its thread, NULL: none */
    uint32_t prefix_count;  /* frames that all stacks begin with, outermost first */
    const char *const *prefix;
    uint32_t run_count;
    const struct stall_run *runs;
    uint32_t stack_count; /* the last ones */
    const struct stall_stack *stacks;
};

struct stalls_window {
    uint64_t process_id;          /* 0: every process */
    int32_t tid;                  /* of that process; 0: every thread */
    bool bounded;                 /* false: origin and extent are not looked at */
    int64_t origin_us, extent_us; /* what overlaps it belongs to it */
    uint64_t since;               /* only those whose change is greater; 0: all */
    uint32_t count_max;           /* the first so many; 0: all */
};

/* By change. 0, -ISOSCOPE_NO_MEMORY or -ISOSCOPE_NOT_FOUND (no such process). */
int stalls_take(struct stalls **out, struct profile *profile, const struct stalls_window *window);
void stalls_free(struct stalls *stalls); /* NULL is fine */
size_t stalls_count(const struct stalls *stalls);
const struct stall *stalls_at(const struct stalls *stalls, size_t index);
/* For a next window's since. */
uint64_t stalls_change(const struct stalls *stalls);
/* The newest change of all; profile_options.changed is called when it grows. */
uint64_t profile_stalls_change(struct profile *profile);

/* Since the profile began. */
struct stall_counts {
    uint64_t seen, told;
    uint64_t annealed;              /* not told: they equal others */
    uint64_t over_stack, over_loop; /* not told: too many in a day, with one stack or of one loop */
    uint64_t evicted;               /* the list was full: the ones that changed longest ago went */
    uint64_t lost;                  /* found no memory */
};
struct stall_counts profile_stall_counts(struct profile *profile);
/* Stalls that go on, or whose end is still to be told. */
size_t profile_stalls_open(struct profile *profile);

/* Of times: bucket i counts those of [2^i, 2^(i+1)) microseconds; bucket 0 begins at 0. */
enum { LOOP_BUCKETS = 32 };
struct loop_times {
    uint64_t count;
    uint64_t buckets[LOOP_BUCKETS];
    uint64_t sum_ns;
    struct stall_range max_ns;
};
/* What fraction (0.5: the median) took at most, as the bucket's bounds. */
struct stall_range loop_times_at(const struct loop_times *times, double fraction);

struct loop_info {
    uint32_t number; /* one for each loop of the profile */
    uint64_t process_id;
    int32_t tid;
    const char *name, *thread_name; /* live as long as the profile */
    enum feed_loop_kind kind;
    bool ended;
    bool watched; /* its name is one of those that stall_settings has */
    bool busy;    /* now */
    uint64_t dispatches;
    /* A dispatch that began and ended between two looks took less than the time between them: it is counted as
     * the mean of such, that is the part of looks that met the loop busy. */
    struct loop_times dispatch;
    struct loop_times
        delay; /* from when it could run to when it ran: of pings, or the kernel's of its thread */
    uint64_t blocking_ns; /* of each dispatch over the jank limit, what it took more */
    uint64_t levels[STALL_LEVEL_COUNT]; /* dispatches that reached it and no more */
    uint64_t causes[STALL_CAUSE_COUNT]; /* stalls, by cause */
    uint64_t dismissed;                 /* stalls that were none: suspended, stopped, traced */
    uint32_t limits_ms[STALL_LEVEL_COUNT];
};

/* Returns how many there are; fills at most capacity. */
size_t profile_loops(struct profile *profile, uint64_t process_id, struct loop_info *out,
                     size_t capacity);

/* A thread that waits for descriptors by system calls of its own: its loop is not marked. */
struct unwatched_thread {
    uint64_t process_id;
    int32_t tid;
    char name[16];
    char system_call[24];
};
size_t profile_unwatched(struct profile *profile, uint64_t process_id, struct unwatched_thread *out,
                         size_t capacity);

/* CPU rule: a process or thread that used more than the limit of one processor for so long. */
struct cpu_high {
    uint64_t number;
    uint64_t process_id;
    int32_t tid; /* 0: the process */
    int64_t from_us, to_us;
    uint32_t permille; /* of one processor, on average */
};
/* Those with a number greater than since. */
size_t profile_cpu_high(struct profile *profile, uint64_t since, struct cpu_high *out,
                        size_t capacity);

struct stall_settings {
    enum feed_watch watch;
    char names[128]; /* of loops or threads, as profile_wall_threads has them; "": all */
    uint32_t limits_ms[STALL_LEVEL_COUNT]; /* 0: 50, 250, 2,000, 5,000 */
};
struct stall_settings profile_stall_settings(struct profile *profile);

#endif

/*
 * scheme.h - a way to sample a process from outside, as the thread that does it sees it.
 *
 *   attached.c -> struct scheme of perf/ or suspend/ -> target.h
 *
 * Threads    All calls on attached.c's one thread: ptrace knows only who attached.
 * Errors     open: NULL, with a refusal. What happens later is counted, or ends the scheme.
 */
#ifndef ISOSCOPE_SCHEME_H
#define ISOSCOPE_SCHEME_H

#include "refusal.h"
#include "target/target.h"

/* What sampling a process costs, as far as the scheme knows. */
struct scheme_cost {
    uint64_t samples, whole, cut, lost;
    uint64_t stops, stopped_ns, stopped_most_ns; /* of threads; 0: nothing is stopped */
    uint32_t stack_bytes;    /* perf: that are copied with each sample, at most */
    uint64_t kernel_threads; /* samples of them, which are of no process: of all processes only */
    bool no_kernel;          /* perf: the kernel tells no samples of its own time */
    bool unnamed_kernel;     /* perf: and of its code, which is shown, no names */
};

enum { SCHEME_OVER = -1 };

/* Programs come and go: children, and what one becomes by exec. */
struct scheme_family {
    /* A target for it; NULL: it is not to be sampled. */
    struct target *(*came)(void *context, pid_t pid, pid_t parent);
    /* It has ended, and all that it left was read. */
    void (*went)(void *context, struct target *target);
    void *context;
};

struct scheme_start {
    pid_t pid;
    struct target *target;
    struct scheme_family family;
    bool kernel; /* frames of the kernel are wanted, too: of perf alone */
};

struct scheme {
    const char *word; /* for people */
    enum feed_timer timer;
    /* Whether waits of the process can be seen, too; NULL: by this scheme they are not. */
    bool (*may_off_cpu)(pid_t pid, struct refusal *why);
    /* Begins with all threads of the process. */
    void *(*open)(const struct scheme_start *start, struct refusal *why);
    /* What is due. Returns for how many microseconds nothing will be, unless a descriptor says so; or SCHEME_OVER: all programs
     * have ended. */
    int64_t (*work)(void *session, int64_t now_ns);
    /* Which become readable when there is work; returns how many, room at most. */
    size_t (*descriptors)(const void *session, int *out, size_t room);
    void (*cost)(const void *session, struct scheme_cost *out);
    /* Leaves no trace: nothing is traced, nothing is stopped. Targets stay their owners'. */
    void (*close)(void *session);
};

/* machine: all processes. Its pid is 0, its target NULL: they come when they run. */
extern const struct scheme scheme_perf, scheme_suspend, scheme_machine;

#endif

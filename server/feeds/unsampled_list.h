/*
 * unsampled_list.h - the programs that were told of as not sampled, and how often each.
 *
 *   unsampled.c (finds them) -> unsampled_list -> clients, the user's terminal
 *
 * A process is counted once for each program and reason, however often it is found. It is taken
 * out again when it turns out to be sampled after all.
 *
 * Units      start: of the process, in the kernel's clock ticks; with the pid it names a process.
 * Threads    One at a time.
 * Errors     None: beyond LISTED_MAX programs the others are only counted; of the processes, the
 *            latest COUNTED_MAX are remembered.
 */
#ifndef ISOSCOPE_UNSAMPLED_LIST_H
#define ISOSCOPE_UNSAMPLED_LIST_H

#include "why_unsampled.h"

#include "../../sampler/feed/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    LISTED_MAX = 64,    /* clients are shown as many */
    COUNTED_MAX = 1024, /* processes */
};

/* One program, for one reason. */
struct unsampled_program {
    char exe[FEED_EXE_BYTES];
    enum unsampled_reason reason;
    unsigned count; /* 0: the place is free */
    pid_t pid;      /* the latest */
    bool named;     /* the user's terminal has seen it */
};

struct unsampled_process {
    pid_t pid; /* 0: taken out, or never used */
    uint64_t start;
    int64_t found_us;
    unsigned program; /* in programs; LISTED_MAX: one of the others */
    /* Of the others' the name is not kept, only enough to know it again. */
    uint64_t name_hash;
};

/* Zeros at first. */
struct unsampled_list {
    struct unsampled_program programs[LISTED_MAX];
    struct unsampled_process processes[COUNTED_MAX]; /* a ring */
    unsigned next;
    unsigned others; /* processes of programs that are not listed */
};

/* The program that it was counted in; NULL: it was counted before, or is one of the others. */
struct unsampled_program *unsampled_list_add(struct unsampled_list *list, pid_t pid, uint64_t start,
                                             int64_t now_us, const char *exe,
                                             enum unsampled_reason reason);
/* Takes out one of list->processes. The program that has one less, with the latest pid of those
 * that are left; NULL: it was one of the others. */
struct unsampled_program *unsampled_list_remove(struct unsampled_list *list,
                                                struct unsampled_process *process);

#endif

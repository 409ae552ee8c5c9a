/*
 * candidates.h - processes that may become a program which is not sampled, looked at until they do.
 *
 *   a feed ends, and its process does not: it is another program now  \
 *   what the first threads of sampled processes have started           > candidates -> unsampled.c
 *
 * A program is told of when the reason is certain, as one that is static, or for musl, or of
 * another user, and two looks have seen the same. So is a forked child that has no descriptor left to
 * begin with.
 *
 * Threads    One at a time.
 * Errors     None: what cannot be read is not told of, and what has no place waits for the next
 *            turn.
 */
#ifndef ISOSCOPE_CANDIDATES_H
#define ISOSCOPE_CANDIDATES_H

#include "known_processes.h"
#include "why_unsampled.h"

#include "../../sampler/feed/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WAITING_MAX = 64, /* more at once wait for the next turn */
    SEEN_MAX = 256,   /* the latest that were looked at, or are */
};

struct candidate {
    pid_t pid;
    uint64_t start; /* of the process, in the kernel's clock ticks */
    unsigned looks_left;
    char exe[FEED_EXE_BYTES]; /* what it was */
    char now[FEED_EXE_BYTES]; /* what it was at the last look, if that is another one; or "" */
    enum unsampled_reason reason;
};

/* It is a candidate, or was one. */
struct seen {
    pid_t pid;
    uint64_t start;
    bool unchanged; /* its looks are over, and it was the same program: one look in each turn */
};

/* Zeros at first, but for these two. */
struct candidates {
    struct profile *profile;
    const char *feed_path; /* of the socket, which a program must see */
    struct candidate waiting[WAITING_MAX];
    unsigned waiting_count;
    size_t parent; /* where the next turn begins */
    uint64_t ends; /* so many ends of feeds were looked at */
    struct seen seen[SEEN_MAX];
    unsigned seen_next;
};

typedef void (*candidate_tell)(void *context, const struct candidate *candidate);

/* A turn: those that are new among what the profile knows, and among its children. */
void candidates_find(struct candidates *candidates, const struct known_processes *known);
/* One look at each. Tells of those that are another program now, which is not sampled. */
void candidates_look(struct candidates *candidates, candidate_tell tell, void *context);

#endif

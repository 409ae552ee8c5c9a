/*
 * saved.h - a profile out of session files (docs/session_format.md), behind the doors of a live one:
 * snapshot.h, follow.h, facts.h, code.h. What control.h changes is not there: those calls do
 * nothing.
 *
 *   files -> profile_open_saved (heads of blocks, tables) -> store (chunks decoded when they are
 *   looked at) -> snapshot, follow
 *
 * Several files are one profile: modules are one by build id and path, processes get the ids that a
 * live profile would give them, one file after the other, and times are aligned.
 *
 * Units      *_us: of the session's clock, CLOCK_MONOTONIC of the machine that recorded; of several
 *            files that of the first one, or of the one that began first (SAVED_ALIGN_CLOCK).
 * Ownership  profile_open_saved makes, profile_free releases. Texts live as long as the profile.
 * Threads    As profile.h: without profile_start there is none, and names that are asked for
 *            (symbolize) and code are read by the caller.
 * Errors     0 or a negative isoscope_error; then problem says where and why.
 */
#ifndef ISOSCOPE_SAVED_H
#define ISOSCOPE_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum saved_align {
    SAVED_ALIGN_START, /* all begin when the first file does */
    SAVED_ALIGN_CLOCK, /* by the wall clocks of their machines */
};

struct saved_options {
    size_t store_bytes; /* of decoded samples, besides what is being looked at; 0: 64 MiB */
    enum saved_align align;
    bool symbolize;          /* names what has no name in the files from what is on this machine */
    bool debuginfod;         /* ... and on the servers of $DEBUGINFOD_URLS */
    const char *source_root; /* as profile_options, for texts that are not in the file */
    void (*changed)(void *context); /* names or code have been read; as profile_options */
    void *context;
};

struct saved_problem {
    size_t file;       /* which of them */
    uint64_t position; /* bytes from its beginning */
    char reason[256];  /* "checksum of block 'SMPL' is wrong"; without file and position */
};

int profile_open_saved(struct profile **out, const struct saved_options *options,
                       const char *const *files, size_t count, struct saved_problem *problem);

/* Whether control.h is of no use. */
bool profile_is_saved(const struct profile *profile);

/* Samples that were looked at could not be decoded (snapshots of them are -ISOSCOPE_DAMAGED): the
 * first one's place. False: there were none. */
bool saved_damage(struct profile *profile, struct saved_problem *out);

/* A file of the profile. */
struct saved_session {
    const char *path;
    const char *producer;       /* "isoscope 0.1.0" */
    const char *host;           /* the machine's name */
    const char *const *command; /* up to a NULL; NULL: not known */
    bool closed;                /* it has its last block; false: the recording was cut off */
    uint64_t cut_bytes;         /* of an incomplete last block, left out */
    uint64_t bytes, samples;
    uint64_t missed;                /* samples that could not be recorded in time */
    uint64_t events, events_missed; /* of the timeline */
    int64_t start_us, end_us;       /* the recording's, aligned */
    int64_t wall_start_us;          /* start_us by the machine's clock: microseconds since 1970 */
    const char *state;              /* session_options.state of the last time; NULL: none */
};

/* Returns how many there are; fills at most capacity. A live profile has none. */
size_t saved_sessions(const struct profile *profile, struct saved_session *out, size_t capacity);

/* What the clock of the profile shows, always: the latest end_us. */
int64_t saved_now_us(const struct profile *profile);

#endif

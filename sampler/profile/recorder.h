/*
 * recorder.h - a profile into session files (docs/session_format.md): while it grows, or as it is.
 *
 *   profile -> recorder's thread (each 0.75 s: drain, append what is new) -> file
 *   profile -> save (a piece a step: all that the store has now) -> bytes for whoever asked
 *
 * The file opens at every moment: it comes under its name when its head is in it, and grows by
 * whole blocks, one write each time. It is not synced: what was written is safe from the end of the
 * program and of the service. A machine that dies may lose what its kernel had not written yet.
 *
 * What is recorded stays: clearing a profile does not take it back.
 *
 * Ownership  recorder_start makes, recorder_free releases, before the profile. Texts of options are
 *            copied. A save holds what it writes; save_free releases it.
 * Threads    The recorder has one of its own; its callbacks run there. recorder_start and _free: no
 *            other thread clears the profile meanwhile. The rest of recorder_*: any. A save is one
 *            thread's at a time.
 * Errors     0 or a negative isoscope_error. A file that cannot be made is recorder_start's problem;
 *            a disk that fills up later ends the recording at the last whole block: problem is
 *            called, once, and the profile goes on.
 */
#ifndef ISOSCOPE_RECORDER_H
#define ISOSCOPE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct recorder;
struct save;

/* What a session has besides the profile. */
struct session_options {
    const char *const *command; /* the program's command line, up to a NULL; NULL: not known */
    bool sources;               /* with the text of sampled source files, as facts.h gives it */
    /* The service's own: a JSON object, as saved_state gives it back; from malloc. NULL: nothing.
     * Asked each time; written when it has changed. */
    char *(*state)(void *context);
    void *context; /* of all callbacks */
};

struct recorder_options {
    struct session_options session;
    /* Of the file; one that is there is replaced. With rotation the time of its start comes before
     * the ending: day.isoscope is day-20260131-235959.isoscope. */
    const char *path;
    uint32_t rotate_seconds; /* a new file after so many, complete in itself; 0: there is one */
    uint32_t keep; /* so many files, the one being written among them; the oldest that this
                              * recorder wrote is removed. 0: all */
    /* Recording has stopped: why, and what is in the file, in words for a user. NULL is fine. */
    void (*problem)(void *context, const char *text);
    /* After recorder_finish: the file is closed in order (or had a problem). NULL is fine. */
    void (*finished)(void *context);
};

/* problem: in words, where it is not 0; capacity problem_bytes. The file is there when it returns.
 */
int recorder_start(struct recorder **out, struct profile *profile,
                   const struct recorder_options *options, char *problem, size_t problem_bytes);
/* Nothing more comes: waits for the names and lines of what was recorded, at most wait_ms, writes
 * them, closes. Returns at once: finished is called. */
void recorder_finish(struct recorder *recorder, uint32_t wait_ms);
/* Writes what is there and closes, without waiting for names. NULL is fine. */
void recorder_free(struct recorder *recorder);

struct recorder_status {
    bool recording;          /* false: closed, or it had a problem */
    uint64_t samples, bytes; /* in all files */
    uint64_t missed;         /* samples that the store let go before they were written */
    uint64_t events;         /* of the timeline, in all files */
    uint64_t write_ns;       /* CPU time of the recorder's thread */
    char path[4096];         /* of the file being written, or of the last one */
};

void recorder_status(struct recorder *recorder, struct recorder_status *out);

/*
 * All that the store has, as one session, in turns.
 *
 *     while ((result = save_step(save, &bytes, &count)) == 1)
 *         send(bytes, count);
 *
 * 1: bytes, lent until the next call (count may be 0). 0: that was all. -ISOSCOPE_PENDING: names
 * are being read; call again when profile_options.changed has been. -ISOSCOPE_NO_MEMORY. A step
 * takes some milliseconds.
 */
int save_begin(struct save **out, struct profile *profile, const struct session_options *options,
               bool partial_names_ok);
int save_step(struct save *save, const void **bytes, size_t *count);
void save_free(struct save *save); /* NULL is fine */

#endif

/*
 * recording.h - a run's profile on its way into a session file, and what the user hears of it.
 *
 *   profile -> recorder.h (a thread of its own) -> file; problems, the end -> here -> stderr
 *
 * Ownership  Borrows profile, service and loop. recording_free, which closes the file, before all of
 *            them: the loop is not run any more then.
 * Threads    The service thread.
 * Errors     Said on stderr; 0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_RECORDING_H
#define ISOSCOPE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct profile;
struct recording;
struct service;

struct recording_options {
    const char *path;        /* NULL: nothing is recorded */
    uint32_t rotate_seconds; /* 0: there is one file */
    uint32_t keep_files;     /* 0: all */
};

struct recording_plan {
    const struct recording_options *options;
    struct profile *profile;
    struct service *service;
    struct loop *loop;
    const char *const *command;   /* up to a NULL */
    bool sources;                 /* with the text of sampled source files */
    bool quiet;                   /* what was recorded is not said */
    void (*ended)(void *context); /* after recording_finish, from the loop */
    void *context;
};

/* Can the file be made, and may what is there be replaced? Changes nothing. 0 (also where nothing
 * is recorded) or -ISOSCOPE_INVALID, with a sentence in error. */
int recording_check(const struct recording_options *options, char *error, size_t error_size);

int recording_start(struct recording **out, const struct recording_plan *plan);
/* What the service knows goes into the file; to be called once a second. */
void recording_look(struct recording *recording);
/* Nothing more comes: closes the file, says what was recorded, and calls ended. names: first waits
 * for those of all samples, for a minute at most; a second call may change that. */
void recording_finish(struct recording *recording, bool names);
/* It has not been closed yet. NULL: there is none. */
bool recording_runs(const struct recording *recording);
void recording_free(struct recording *recording);

#endif

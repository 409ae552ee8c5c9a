/*
 * environment.h - the environment that a program is started with, so that it feeds us.
 *
 * Ownership  The caller frees the array with environment_free; strings that are not ours are
 *            borrowed.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_ENVIRONMENT_H
#define ISOSCOPE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Libraries beside ours: of allocations, and of locks. */
enum { ENVIRONMENT_ALLOC, ENVIRONMENT_LOCK, ENVIRONMENT_COMPANIONS };

struct environment_feed {
    const char *library; /* without spaces and colons: LD_PRELOAD splits there */
    const char *socket;
    uint32_t period_us;
    const char *timer;       /* a word of FEED_TIMER_WISHES */
    const char *watch_loops; /* a word of FEED_WATCHES */
    /* As library, for what else is sampled; NULL: it is not. */
    const char *companions[ENVIRONMENT_COMPANIONS];
    uint32_t allocation_bytes, lock_us; /* then: one of so many */
    uint32_t faults;                    /* the same of page faults; 0: none */
    bool enabled;
    bool runtime_options; /* those by which runtimes name the code that they make */
    const char
        *collectors; /* the folder of libisoscope_itt.so and libisoscope_nvtx.so; NULL: none */
};

struct environment;

/* base: as environ. Options of runtimes stand before the user's, which win. What it preloads already stays, behind ours; a collector that it names, too. */
int environment_new(struct environment **out, char *const *base,
                    const struct environment_feed *feed);
void environment_free(struct environment *environment); /* NULL is fine */
void environment_freep(struct environment **environment);

/* As execve takes it. */
char **environment_list(const struct environment *environment);

#endif

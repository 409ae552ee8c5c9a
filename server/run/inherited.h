/*
 * inherited.h - what isoscope got from its own caller and changes for itself: the program that it
 * starts gets it back, so it starts as it would without isoscope.
 *
 * Signal mask, ignored signals, the limit of open files, and which of 0, 1, 2 were closed.
 *
 * Threads    inherited_save before any other thread is there; inherited_restore in the forked
 * child.
 */
#ifndef ISOSCOPE_INHERITED_H
#define ISOSCOPE_INHERITED_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

struct inherited {
    sigset_t mask;
    sigset_t ignored;
    struct rlimit files;
};

/* Saves, then takes what the service needs: SIGPIPE ignored, SIGCHLD not, enough descriptors. */
void inherited_save(struct inherited *out);
/* Async-signal-safe, for between fork and exec. */
void inherited_restore(const struct inherited *inherited);

#endif

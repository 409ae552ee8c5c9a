/*
 * deaf.h - threads that cannot be sampled, for they block the tick's signal.
 *
 *   a thread uses CPU time, and its ring does not move -> /proc/self/task/TID/status -> feed status
 *
 * Signals that a thread blocks wait until it no longer does, and then one of them is left. Such a
 * thread would be missing from the profile with nothing said. It is found within some two seconds:
 * the sampler's thread may rest for one, and looks twice.
 *
 * Units      CPU time in nanoseconds.
 * Threads    The sampler's thread.
 * Errors     None: what cannot be read is not counted.
 * Source     proc_pid_status(5), SigBlk.
 */
#ifndef ISOSCOPE_DEAF_H
#define ISOSCOPE_DEAF_H

#include "threads.h"

#include <stdbool.h>

/* Looks at some threads; all have their turn. Each is counted once, in status.threads_deaf. */
void deaf_look(struct threads *threads);

/* text: a status file, 0-terminated. */
bool deaf_blocks(const char *text, int signal_number);

#endif

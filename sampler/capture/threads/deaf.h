/*
 * deaf.h - threads that are not sampled, for they block the tick's signal.
 *
 *   a thread uses CPU time, and its ring does not move -> /proc/self/task/TID/status -> feed status
 *
 * Signals that a thread blocks wait until it no longer does, and then one of them is left. Such a
 * thread would be missing from the profile with nothing said. It is found within some two seconds:
 * the sampler's thread may rest for one, and looks twice. What it blocks is remembered, so that
 * ticks come by another signal if there is one (sampler_signals.h).
 *
 * Units      CPU time in nanoseconds.
 * Threads    The sampler's thread.
 * Errors     None: what cannot be read is not counted.
 * Source     proc_pid_status(5), SigBlk.
 */
#ifndef ISOSCOPE_DEAF_H
#define ISOSCOPE_DEAF_H

#include "threads.h"

#include <stdint.h>

/* Looks at some threads; all have their turn. Those that hear no ticks are counted in
 * status.threads_deaf, as long as it is so. */
void deaf_look(struct threads *threads);

/* The signals that a thread blocks, as a kernel's set. text: its status file, 0-terminated. */
uint64_t deaf_blocked(const char *text);

#endif

/*
 * tasks.h - what the kernel knows of the program's threads, and they did not tell us.
 *
 *   /proc/self/task -> tasks_scan, tasks_names -> threads.h
 *
 * Threads    The sampler's thread; tasks_last_name: the thread itself.
 */
#ifndef ISOSCOPE_TASKS_H
#define ISOSCOPE_TASKS_H

#include "threads.h"

/* Finds threads nobody told us of, and those that went. */
void tasks_scan(struct threads *threads);
/* Takes all that are there now. */
void tasks_take_all(struct threads *threads);
/* The calling thread is the only one of its process. */
bool tasks_alone(void);
/* Reads the names of some threads; all have their turn. */
void tasks_names(struct threads *threads);
/* The calling thread's, when it ends: it may not have lived until its turn. */
void tasks_last_name(struct threads *threads, uint32_t slot);

#endif

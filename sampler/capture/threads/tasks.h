/*
 * tasks.h - what the kernel knows of the program's threads, and they did not tell us.
 *
 *   /proc/self/task -> tasks_scan -> threads.h
 *
 * Threads    Whoever tends the sampler (tend.h); tasks_own_name: the thread itself.
 */
#ifndef ISOSCOPE_TASKS_H
#define ISOSCOPE_TASKS_H

#include "threads.h"

/* Finds threads nobody told us of, and those that went. */
SIGNAL_SAFE void tasks_scan(struct threads *threads);
/* Takes all that are there now. */
void tasks_take_all(struct threads *threads);
/* The calling thread is the only one of its process. */
bool tasks_alone(void);
/* Tells the calling thread's name, which has the slot. */
SIGNAL_SAFE void tasks_own_name(struct threads *threads, uint32_t slot);

#endif

/*
 * sampler_thread.h - what the one thread of the sampler does, turn by turn.
 *
 *   sampler.c starts it -> each turn: requests, settings, threads, modules, rounds
 *                       -> waits for a wake
 *
 * Threads    It is the thread: it returns when sampling ends, or the program wants to be alone.
 */
#ifndef ISOSCOPE_SAMPLER_THREAD_H
#define ISOSCOPE_SAMPLER_THREAD_H

void sampler_thread_body(void *unused);

#endif

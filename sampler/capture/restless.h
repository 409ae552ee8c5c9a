/*
 * restless.h - does a thread change places with others so often that a perf timer costs it too
 * much?
 *
 *   /proc/self/task/TID/schedstat -> restless_look -> threads.c, which chooses the timer
 *
 * The kernel stops and starts a perf timer whenever its thread leaves or gets a processor, and each
 * time sets the processor's own timer: 4 to 9 us a switch in a virtual machine, for servers that
 * wait for each request a fifth or more of their CPU time. The thread's CPU clock costs nothing at
 * a switch; its ticks are the kernel's (250 Hz on most), and each sample tells what CPU time it
 * stands for.
 *
 * Units      slices: how often the thread got a processor.
 * Threads    The sampler's thread.
 * Errors     Where the kernel keeps no schedstat, no thread is restless.
 */
#ifndef ISOSCOPE_RESTLESS_H
#define ISOSCOPE_RESTLESS_H

#include <stdbool.h>
#include <stdint.h>

struct restless {
    bool is;
    uint64_t run_ns, slices; /* at the last look */
};

/* Looks again: a thread that has hardly run since the last look stays what it is. */
void restless_look(struct restless *restless, const char *schedstat_path);

/* What restless_look does with the file's text: CPU time, time waited, slices. */
void restless_judge(struct restless *restless, const char *schedstat);

#endif

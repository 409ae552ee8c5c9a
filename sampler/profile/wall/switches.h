/*
 * switches.h - where a thread was when it last gave up its processor, as the kernel noted it.
 *
 *   a perf context-switch event of the thread -> its memory -> switches_fp, when the thread sleeps
 *
 * /proc tells a sleeper's pc and stack pointer, but not its frame pointer, which code that was
 * built with frame pointers is unwound by.
 *
 * Threads    One at a time.
 * Errors     None: where the kernel refuses, the frame pointer stays unknown.
 * Source     perf_event_open(2), "MMAP layout"; write_backward: the newest record is at data_head.
 */
#ifndef ISOSCOPE_SWITCHES_H
#define ISOSCOPE_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

struct switches {
    int fd; /* -1: none */
    const void *map;
};

/* refused: for want of rights, for good; then nothing is tried. */
void switches_open(struct switches *out, int tid, bool *refused);
void switches_close(struct switches *switches);

/* False: the last switch was not at this pc and sp, or is not known. */
bool switches_fp(const struct switches *switches, uint64_t pc, uint64_t sp, uint64_t *fp);

#endif

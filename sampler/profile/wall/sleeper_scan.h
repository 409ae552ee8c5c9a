/*
 * sleeper_scan.h - what scans of a sleeping thread's runtimes need: pages of its process, room for texts, and
 * the codes that were met.
 *
 *   subject.h -> sleeper_scan_of (a program with a runtime) -> sleeper.c -> runtime_scan.h, by the rounds' thread
 *
 * Half a megabyte of addresses for each such program, of which what is used costs.
 *
 * Ownership  The program's subject; sleeper_scan_free.
 * Threads    The rounds' thread, or who has their lock.
 * Errors     NULL: the program has no runtime, nobody wants its frames, or there is no memory. Native frames
 *            stand then.
 */
#ifndef ISOSCOPE_SLEEPER_SCAN_H
#define ISOSCOPE_SLEEPER_SCAN_H

#include "../../capture/runtimes/runtime_scan.h"

struct sleeper_scan {
    struct runtime_scan scan;
    struct code_cache cache;
    struct runtime_texts texts;
    struct guarded_copies copies;
};

/* *scan: what it was before; NULL: made when it is first needed. */
struct sleeper_scan *sleeper_scan_of(struct sleeper_scan **scan, struct feed_writer *writer);
void sleeper_scan_free(struct sleeper_scan *scan); /* NULL is fine */

/* For a walk of the slot's thread. The pages that were copied for another thread are none any more: since
 * then this one may have run. NULL: as where there is none. */
struct runtime_scan *sleeper_scan_begin(struct sleeper_scan *scan, int32_t pid, uint32_t slot);

#endif

/*
 * scan_memory.h - what scans of runtimes need in this process: the codes and the pages that were met, room for texts.
 *
 * Mapped when the first scan begins: a program without a runtime has none of it.
 *
 * Threads    Any tick; scan_memory_forget: when no tick works.
 * Signals    SIGNAL_SAFE.
 * Errors     NULL: there is no memory.
 */
#ifndef ISOSCOPE_SCAN_MEMORY_H
#define ISOSCOPE_SCAN_MEMORY_H

#include "runtimes/runtime_scan.h"
#include "tick_stack.h"

struct scan_memory {
    struct code_cache cache;
    struct guarded_pages pages;
    struct runtime_texts texts[TICK_STACKS]; /* by the stack that a tick works on */
};

SIGNAL_SAFE struct scan_memory *scan_memory(void);
/* With another feed codes have other numbers. */
SIGNAL_SAFE void scan_memory_forget(void);

#endif

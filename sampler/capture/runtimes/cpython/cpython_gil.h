/*
 * cpython_gil.h - whether a thread has the interpreter's lock, or waits for it.
 *
 *   runtime_scan_end -> cpython_gil -> scan->lock
 *
 * It has it: the lock is taken, and its last holder is a state of this thread. It waits: it does not have it, and
 * sleeps in the kernel at a word of the lock itself, or a tick found it as it returned from there. A thread that
 * is on its way there or back, which takes microseconds, is neither.
 *
 * Up to 3.11 a process has one lock, later an interpreter may have its own: that of the thread's first state counts.
 * A free-threaded build without its lock has none.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     None: scan->lock stays unknown.
 */
#ifndef ISOSCOPE_CPYTHON_GIL_H
#define ISOSCOPE_CPYTHON_GIL_H

#include "cpython.h"

SIGNAL_SAFE void cpython_gil(struct runtime_scan *scan, uint32_t entry);

#endif

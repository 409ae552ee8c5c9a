/*
 * cpython_tasks.h - the asyncio task that a thread runs, by name.
 *
 *   cpython.c (a frame of Handle._run, which the loop calls each callback by) -> cpython_task -> scan->task
 *
 * Handle._run's first variable is the handle; its callback belongs to a Task of the module _asyncio, whose name
 * it is. The innermost one counts. Not seen: the loops of other libraries (uvloop), which have no such frame;
 * tasks written in Python; classes that are made from Task; a task's first step where it is begun eagerly.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     None: scan->task stays 0.
 * Source     Lib/asyncio/events.py and Modules/_asynciomodule.c of CPython 3.9 to 3.13
 */
#ifndef ISOSCOPE_CPYTHON_TASKS_H
#define ISOSCOPE_CPYTHON_TASKS_H

#include "cpython.h"

/* code: of the frame, a code object. */
SIGNAL_SAFE void cpython_task(struct runtime_scan *scan, uint32_t entry, uint64_t frame,
                              uint64_t code);

#endif

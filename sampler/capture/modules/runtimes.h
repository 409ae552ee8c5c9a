/*
 * runtimes.h - programs whose code without unwind data can be walked all the same, by their files'
 * names.
 *
 *   paths of mapped files -> runtimes -> modules.h -> code_map.h
 *
 * Only what was tried, and always does so: a walk by frame pointer through code that keeps
 * something else in that register would give a stack that looks complete and is wrong.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_MODULES_RUNTIMES_H
#define ISOSCOPE_MODULES_RUNTIMES_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>

/* All code that it makes keeps frame pointers, also where it writes no perf map: V8 in node, SBCL.
 */
SIGNAL_SAFE bool runtime_keeps_frame_pointers(const char *path);
/* CPython. Where it writes a perf map (python3 -X perf), a small piece of code calls each function,
 * in a frame of fixed size. */
SIGNAL_SAFE bool runtime_has_trampolines(const char *path);
/* Erlang. Its processes have stacks of their own; what they call in C runs on the thread's. */
SIGNAL_SAFE bool runtime_changes_stacks(const char *path);

#endif

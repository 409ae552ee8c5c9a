/*
 * cpython_thread.h - which of CPython's thread states is the sampled thread's.
 *
 *   _PyRuntime -> interpreters -> their threads -> the one whose thread_id or native_thread_id it is
 *
 * A thread may have several, one for each interpreter that it runs code of. One is remembered by the thread's
 * number; that it is still linked is checked each time.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     0: it has none, or the lists are being changed.
 */
#ifndef ISOSCOPE_CPYTHON_THREAD_H
#define ISOSCOPE_CPYTHON_THREAD_H

#include "cpython.h"

/* One of them, most often the only one. */
SIGNAL_SAFE uint64_t cpython_thread_state(struct runtime_scan *scan, uint32_t entry);
/* All of them in turn. after: 0, or the one before. */
SIGNAL_SAFE uint64_t cpython_thread_next(struct runtime_scan *scan, uint32_t entry, uint64_t after);

/* A field of something in the program; false: not there, or the version has none. */
SIGNAL_SAFE_INLINE bool cpython_field(struct runtime_scan *scan, uint64_t address, uint64_t offset,
                                      uint64_t *out)
{
    return offset != CPYTHON_NO_FIELD && guarded_word(&scan->memory, address + offset, out);
}

#endif

/*
 * cpython_layouts.h - where CPython keeps what its walker reads, by version.
 *
 *   version, _Py_DebugOffsets -> cpython_layout -> words (capture/runtimes/cpython/cpython.h)
 *
 * Up to 3.12 by tables: within a minor version the fields used here have not moved. From 3.13 on a build
 * tells its offsets itself, at _PyRuntime; their order is another in each minor version.
 *
 * Threads    Any; no state.
 * Source     Include/internal/ of CPython 3.9.18, 3.10.13, 3.11.2, 3.11.7, 3.12.1, 3.12.10 and 3.13.0, by
 *            offsetof; of 3.14 its pycore_debug_offsets.h was read, and 3.14.10 was run (Debian's); of 3.14t
 *            it was read only
 */
#ifndef ISOSCOPE_CPYTHON_LAYOUTS_H
#define ISOSCOPE_CPYTHON_LAYOUTS_H

#include "../../capture/runtimes/cpython/cpython.h"

#include <stdbool.h>
#include <stdint.h>

enum { CPYTHON_DEBUG_OFFSETS = 83 }; /* words of _Py_DebugOffsets that are looked at */

/* The version is like PY_VERSION_HEX. debug: what stands at _PyRuntime; NULL: it is not known. Fills in all but
 * addresses and what the eval function's code tells. Returns NULL, or why it cannot: static text. */
const char *cpython_layout(uint32_t version, const uint64_t *debug, uint64_t words[CPYTHON_WORDS]);

#endif

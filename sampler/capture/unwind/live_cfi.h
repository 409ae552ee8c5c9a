/*
 * live_cfi.h - the unwind rule at a pc whose module has no table yet, read from the module itself.
 *
 * Between a dlopen and the sampler's next look at the maps a module has no rows; after a dlclose
 * its old rows are not believed. In both cases the loader is asked (_dl_find_object: no lock, and
 * async-signal-safe by its manual), and the one rule needed is worked out on the spot: some
 * hundred times slower than a row, and needed for milliseconds.
 *
 * Signals    SIGNAL_SAFE. It reads memory of a module that the thread is running in.
 * Errors     false: an older libc (before 2.35), no module, or no unwind data there.
 */
#ifndef ISOSCOPE_LIVE_CFI_H
#define ISOSCOPE_LIVE_CFI_H

#include "../../feed/signal_safe.h"
#include "../cfi/cfi.h"

#include <stdbool.h>
#include <stdint.h>

/* pc: a runtime address. *signal_frame: the rule does not count, the kernel saved the registers. */
SIGNAL_SAFE bool live_cfi_rule(uint64_t pc, struct cfi_rule *rule, bool *signal_frame);

#endif

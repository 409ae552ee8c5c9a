/*
 * cfi_run.h - runs call frame instructions, one at a time, on a program's rule (cfi.h).
 *
 * Signals    SIGNAL_SAFE.
 * Errors     An instruction that is not known sets cursor->bad: what follows cannot be told.
 */
#ifndef ISOSCOPE_CFI_RUN_H
#define ISOSCOPE_CFI_RUN_H

#include "cfi.h"
#include "cfi_cursor.h"

/* Returns how far the instruction moves the pc. */
SIGNAL_SAFE uint64_t cfi_run_one(struct cfi_program *program, struct cfi_cursor *cursor);

#endif

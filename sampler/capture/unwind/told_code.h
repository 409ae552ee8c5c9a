/*
 * told_code.h - a function that the program's own provider has given: its code, described when it is new.
 *
 *   unwind.c -> isoscope_code_provider -> told_code_frame -> code_cache.h, else isoscope_code_describe
 *
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_TOLD_CODE_H
#define ISOSCOPE_TOLD_CODE_H

#include "frame_providers.h"

#include "../runtimes/runtime_scan.h"

SIGNAL_SAFE uint64_t told_code_frame(struct runtime_scan *scan,
                                     const struct provider_range *provider,
                                     const struct isoscope_native_frame *native,
                                     const struct isoscope_code *code);

#endif

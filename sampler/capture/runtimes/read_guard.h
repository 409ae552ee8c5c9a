/*
 * read_guard.h - a read that may fault, and is survived.
 *
 *   guarded_memory.c -> read_guard_copy -> fault -> fault_handler.c -> read_guard_leave: it returns false
 *
 * Only this one routine may fault, and it holds nothing when it does: the handler sends it to its
 * own end. So no jump out of a handler, no mark of who reads.
 *
 * Threads    Any. Signals: SIGNAL_SAFE; SIGSEGV and SIGBUS must not be blocked, and be handled.
 */
#ifndef ISOSCOPE_READ_GUARD_H
#define ISOSCOPE_READ_GUARD_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* False: a fault. Then some of it may have been copied. */
bool read_guard_copy(void *out, uint64_t address, uint64_t bytes);

/* In a handler of SIGSEGV and SIGBUS. False: the fault is somebody else's. */
SIGNAL_SAFE bool read_guard_leave(ucontext_t *context);

#endif

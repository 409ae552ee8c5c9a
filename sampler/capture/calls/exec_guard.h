/*
 * exec_guard.h - no tick falls into a program's exec.
 *
 * A tick that is a trap may come while the kernel replaces the program: after its handlers went,
 * and before the kernel takes the event off (remove_on_exec). It would end the new program. So
 * before a sampled thread enters exec its timer stands still, and runs again if the call fails. The
 * timer is a descriptor of the sampler's thread, so that thread is asked, and waited for.
 *
 *   exec_calls.c -> exec_guard_begin -> exec -> (it failed) exec_guard_end
 *
 * Where ticks are no traps, or none can come in the kernel, there is nothing to wait for. Nor in a
 * child that shares the memory (vfork): it has no timer, and does not touch its parent's.
 *
 * Threads    The program's, any; as async-signal-safe as exec is.
 * Errors     None. When the sampler's thread does not answer in time, or 64 threads are at it,
 *            SIGTRAP is ignored meanwhile, which the new program then inherits.
 */
#ifndef ISOSCOPE_EXEC_GUARD_H
#define ISOSCOPE_EXEC_GUARD_H

#include "../threads/rests.h"

#include <stdbool.h>
#include <stdint.h>

struct exec_guard {
    struct rest *rest; /* NULL: none was needed, or there was no place */
    bool ignores;
    uint64_t action[4]; /* of SIGTRAP, before it was ignored; the kernel's form */
};

void exec_guard_begin(struct exec_guard *out);
void exec_guard_end(struct exec_guard *guard);

#endif

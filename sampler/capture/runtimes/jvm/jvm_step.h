/*
 * jvm_step.h - from a frame of a JVM's code to its caller.
 *
 *   native frame, its blob -> jvm_step_interpreted, jvm_step_compiled, jvm_step_stub -> jvm_caller
 *
 * Signals    SIGNAL_SAFE.
 * Errors     False: what is there is no frame.
 */
#ifndef ISOSCOPE_JVM_STEP_H
#define ISOSCOPE_JVM_STEP_H

#include "jvm_code.h"
#include "jvm_method.h"

struct jvm_frame {
    struct guarded_memory *memory;
    const struct feed_runtime *runtime;
    const struct runtime_native *native;
    struct jvm_blob blob;
};

struct jvm_caller {
    uint64_t pc, sp, fp; /* pc: a return address */
};

/* By its frame pointer; of a leaf whose frame is being made, by what its entry has done. bci: FEED_NO_POSITION of
 * a native method. */
SIGNAL_SAFE bool jvm_step_interpreted(const struct jvm_frame *frame, struct jvm_method *method,
                                      uint32_t *bci, struct jvm_caller *caller);
/* By its size; of a leaf, by what its prologue or epilogue has done. */
SIGNAL_SAFE bool jvm_step_compiled(const struct jvm_frame *frame, struct jvm_caller *caller);
SIGNAL_SAFE bool jvm_step_stub(const struct jvm_frame *frame, struct jvm_caller *caller);
/* A leaf that a call has just returned to. */
SIGNAL_SAFE bool jvm_step_called(const struct jvm_frame *frame);

#endif

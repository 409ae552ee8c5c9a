/*
 * jvm_code.h - the code that a JVM made: which piece an address lies in, which methods stand there.
 *
 *   pc -> jvm_code_find -> jvm_blob -> jvm_code_scope -> jvm_scope, outwards by jvm_scope_next
 *
 * Signals    SIGNAL_SAFE.
 * Errors     False: it is none of the JVM's code, or was changed meanwhile.
 */
#ifndef ISOSCOPE_JVM_CODE_H
#define ISOSCOPE_JVM_CODE_H

#include "jvm.h"

enum jvm_blob_kind {
    JVM_BLOB_STUB,        /* of the runtime: none of a method's */
    JVM_BLOB_INTERPRETER, /* which has a frame pointer */
    JVM_BLOB_COMPILED,    /* a method */
    JVM_BLOB_NATIVE,      /* the way from one to its native function */
};

struct jvm_blob {
    enum jvm_blob_kind kind;
    uint64_t address, code, end; /* end: of the whole */
    uint64_t name;               /* where its name is */
    uint64_t frame_bytes;        /* with the return address; 0: it has no frame of its own */
    int32_t frame_complete;      /* from code on the frame stands; negative: never */
    /* Compiled and native only. */
    uint64_t method;
    uint32_t compile_id;
};

SIGNAL_SAFE bool jvm_code_find(struct guarded_memory *memory, const struct feed_runtime *runtime,
                               uint64_t pc, struct jvm_blob *out);

/* One method of those that were compiled into one, innermost first. */
struct jvm_scope {
    uint32_t method; /* its number among the compiled code's metadata; 0: none */
    uint32_t bci;    /* FEED_NO_POSITION: not known */
    uint32_t at;     /* where its description lies */
    uint32_t outer;  /* its caller's; 0: it is the outermost */
};

/* The scopes at pc, which is that of a leaf or a return address. exact: it was a place that calls
 * return to, or may stop at. */
SIGNAL_SAFE bool jvm_code_scope(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                const struct jvm_blob *blob, uint64_t pc, struct jvm_scope *out,
                                bool *exact);
SIGNAL_SAFE bool jvm_scope_next(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                const struct jvm_blob *blob, struct jvm_scope *scope);
/* The Method*. */
SIGNAL_SAFE bool jvm_scope_method(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                  const struct jvm_blob *blob, const struct jvm_scope *scope,
                                  uint64_t *out);

/* Is it where a frame goes on that was made to leave its compiled code? Then the pc that it had. */
SIGNAL_SAFE bool jvm_code_deopt(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                const struct jvm_blob *blob, uint64_t sp, uint64_t *pc);

#endif

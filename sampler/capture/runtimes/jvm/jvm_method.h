/*
 * jvm_method.h - a method of a JVM: is it one, which, and what is told of it.
 *
 *   Method* -> jvm_method_read -> jvm_method_code -> code id (code_cache.h; new: its texts)
 *
 * Told is "com.example.Shape.area" of "com/example/Shape.java", and of a hidden class what it was made from:
 * the number behind its name is another one each time.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     False: it is no method, or one that goes away just now.
 */
#ifndef ISOSCOPE_JVM_METHOD_H
#define ISOSCOPE_JVM_METHOD_H

#include "jvm.h"

struct jvm_method {
    uint64_t address;
    uint64_t constant; /* ConstMethod */
    uint64_t bytecode, bytecode_end;
    uint64_t constant_end; /* of all that lies behind it */
    uint64_t pool, klass, klass_name;
    uint64_t fields; /* hash of what ConstMethod says */
    uint32_t flags, name_index, max_stack;
};

SIGNAL_SAFE bool jvm_method_read(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                 uint64_t address, struct jvm_method *out);

/* 0: there is no room for it. */
SIGNAL_SAFE uint32_t jvm_method_code(struct runtime_scan *scan, uint32_t entry,
                                     const struct jvm_method *method);

/* As jvm_method_code, told of what is no method: a stub. name: where its text is. */
SIGNAL_SAFE uint32_t jvm_stub_code(struct runtime_scan *scan, uint32_t entry, uint64_t name);

#endif

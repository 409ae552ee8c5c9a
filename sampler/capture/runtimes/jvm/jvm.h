/*
 * jvm.h - what a HotSpot JVM runs: interpreted and compiled methods, with what was inlined.
 *
 *   runtime_scan -> jvm -> jvm_code.h (which code, which scopes) -> jvm_method.h (which method) -> frames
 *
 * No agent and no option: libjvm.so tells where everything lies (gHotSpotVMStructs, made for
 * debuggers), and the service has read it. All of the code lies in a few heaps, which are the ranges.
 *
 * The caller of a compiled frame is found by the frame's size, of an interpreted one by its frame
 * pointer, of the leaf by what its prologue or epilogue has done so far. What comes out must be a
 * place that a call can have come from, or the stack ends.
 *
 * Of a leaf in compiled code the line is that of the next safepoint, as the debug info has it; with
 * -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints it is its own.
 *
 * Signals    SIGNAL_SAFE.
 * Source     HotSpot's vmStructs.cpp, codeBlob.hpp, nmethod.hpp, pcDesc.hpp, scopeDesc.cpp, frame_x86.hpp,
 *            frame_aarch64.hpp, heap.cpp, unsigned5.hpp, constMethod.hpp
 */
#ifndef ISOSCOPE_JVM_H
#define ISOSCOPE_JVM_H

#include "../runtime_scan.h"

/* Offsets in bytes, where nothing else is said. profile/runtimes/jvm_finder.c fills them. */
enum jvm_word {
    /* Of range n, which is a code heap: where its map of segments begins, log2 of a segment's bytes. */
    JVM_SEGMENT_MAP_0,
    JVM_SEGMENT_LOG2_0 = JVM_SEGMENT_MAP_0 + FEED_RUNTIME_RANGES_MAX,
    /* Of a block in a heap. */
    JVM_BLOCK_BYTES = JVM_SEGMENT_LOG2_0 + FEED_RUNTIME_RANGES_MAX, /* of its header */
    JVM_BLOCK_USED,
    /* CodeBlob */
    JVM_BLOB_BYTES, /* of the struct */
    JVM_BLOB_NAME,
    JVM_BLOB_SIZE,
    JVM_BLOB_FRAME_SIZE,
    JVM_BLOB_FRAME_COMPLETE,
    JVM_BLOB_FRAME_COMPLETE_BYTES, /* 2 or 4 */
    JVM_BLOB_CODE,
    JVM_BLOB_CODE_IS_OFFSET, /* 1: int, from the blob; 0: an address */
    /* nmethod. Sections: enum jvm_section says what the field is. */
    JVM_NMETHOD_METHOD,
    JVM_NMETHOD_COMPILE_ID,
    JVM_NMETHOD_ORIG_PC,
    JVM_NMETHOD_DEOPT, /* the deoptimization handlers: */
    JVM_NMETHOD_DEOPT_MH,
    JVM_DEOPT_IS_OFFSET, /* 1: int, from the blob; 0: an address */
    JVM_SCOPES_DATA,
    JVM_SCOPES_DATA_IS,
    JVM_SCOPES_PCS,
    JVM_SCOPES_PCS_END,
    JVM_SCOPES_PCS_IS,
    JVM_METADATA,
    JVM_METADATA_IS,
    JVM_IMMUTABLE_DATA,
    JVM_MUTABLE_DATA,
    JVM_DATA_OFFSET,
    JVM_PACKED_EXCLUDES, /* byte values that packed numbers leave out: 0, from JDK 20 on 1 */
    /* Interpreter and entry from native code. */
    JVM_INTERPRETER_LOW, /* addresses */
    JVM_INTERPRETER_HIGH,
    JVM_CALL_STUB_RETURN, /* address */
    JVM_BCP_SLOT,         /* of an interpreted frame, in words below its frame pointer */
    /* Method, ConstMethod */
    JVM_METHOD_CONST,
    JVM_CONST_BYTES, /* of the struct: bytecode follows */
    JVM_CONST_POOL,
    JVM_CONST_SIZE, /* int, in words */
    JVM_CONST_FLAGS,
    JVM_CONST_FLAG_LINES, /* the bit: there is a line table */
    JVM_CONST_CODE_SIZE,
    JVM_CONST_NAME,
    JVM_CONST_MAX_STACK,
    /* ConstantPool, Klass, Symbol */
    JVM_POOL_BYTES,
    JVM_POOL_LENGTH,
    JVM_POOL_HOLDER,
    JVM_SOURCE_FILE,
    JVM_SOURCE_FILE_IN_KLASS, /* 1: of InstanceKlass; 0: of ConstantPool */
    JVM_KLASS_NAME,
    JVM_SYMBOL_LENGTH,
    JVM_SYMBOL_BODY,
    JVM_LINES, /* feed_code_lines */
    JVM_WORDS,
};
static_assert((int)JVM_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

/* Larger than any CodeBlob. */
enum { JVM_BLOB_BYTES_MAX = 128 };

/* What a section's field holds. */
enum jvm_section {
    JVM_SECTION_ADDRESS,   /* an address */
    JVM_SECTION_BLOB,      /* int, from the blob */
    JVM_SECTION_IMMUTABLE, /* int, from where JVM_IMMUTABLE_DATA points */
    JVM_SECTION_DATA,      /* uint16_t, from the blob's data */
    JVM_SECTION_MUTABLE,   /* int, from where JVM_MUTABLE_DATA points */
};

/* entry: of the writer's runtimes. As runtime_scan_frames and runtime_scan_step have it. */
SIGNAL_SAFE uint32_t jvm_frames(struct runtime_scan *scan, uint32_t entry,
                                const struct runtime_native *native);
SIGNAL_SAFE bool jvm_step(struct runtime_scan *scan, uint32_t entry, struct runtime_native *native);

#endif

/*
 * v8.h - JavaScript's frames in the places of V8's: node 18, 20, 22 and 24.
 *
 *   v8_finder.c -> words -> v8_frames (v8_objects.h: the heap; v8_code.h: names; v8_machine.h: code that V8 made)
 *
 * All code that V8 makes keeps a frame pointer, and below it the context and the function, whether the
 * function is interpreted, compiled as it stands (baseline) or optimized. Where the context should be, other
 * code has a small number that says what it is: such a native frame stands for itself.
 *
 * A bytecode handler, and built-in code without a frame of its own, run in the frame of the function that came
 * to them: the frame pointer says which, not the pc.
 *
 * Position   Of interpreted and baseline code: bytes of bytecode before the instruction. Of optimized code:
 *            bytes of machine code (FEED_LINES_V8_OPTIMIZED).
 *
 * Signals    SIGNAL_SAFE. V8 moves objects when this thread is at a safe point, other threads mark and
 *            compact meanwhile: each object's type is looked at before it is believed.
 * Source     V8's src/execution/frame-constants.h, src/objects/ (scope-info.tq, shared-function-info.tq,
 *            script.tq, code.h, bytecode-array.tq, deoptimization-data.h) and src/baseline/ of each version;
 *            its v8dbg_ constants are src/objects/ seen by tools/gen-postmortem-metadata.py
 */
#ifndef ISOSCOPE_V8_H
#define ISOSCOPE_V8_H

#include "../runtime_scan.h"

/* Words of the entry. Offsets are from an object's first byte, not from its tagged pointer. */
enum v8_word {
    /* Types, as in an object's map. */
    V8_TYPE_CONTEXT_FIRST,
    V8_TYPE_CONTEXT_LAST,
    V8_TYPE_FUNCTION_FIRST,
    V8_TYPE_FUNCTION_LAST,
    V8_TYPE_SHARED,
    V8_TYPE_SCOPE,
    V8_TYPE_SCRIPT,
    V8_TYPE_BYTECODE,
    V8_TYPE_INTERPRETER_DATA,
    V8_TYPE_BYTES, /* of source position tables */
    V8_TYPE_CODE,
    V8_TYPE_STREAM, /* what machine code lies in */
    /* JSFunction, SharedFunctionInfo, Script. */
    V8_FUNCTION_SHARED,
    V8_SHARED_DATA, /* bytecode, baseline code; InterpreterData: its bytecode */
    V8_SHARED_NAME, /* or ScopeInfo */
    V8_SHARED_SCRIPT,
    V8_SCRIPT_SOURCE,
    V8_SCRIPT_NAME,
    V8_SCRIPT_ID,
    /* ScopeInfo. */
    V8_SCOPE_PLACES_FIRST, /* 1: where the function begins and ends stands before the names of locals */
    V8_SCOPE_MODULE,       /* the type of scope that has one slot more before those; 0: none has */
    /* BytecodeArray. */
    V8_BYTECODE_HEADER,
    V8_BYTECODE_PLACES,
    V8_BYTECODE_SIZES, /* address: bytes of each bytecode, for operands of 1, 2 and 4 bytes; 0: unknown */
    V8_BYTECODE_KINDS, /* bytecodes in each of the three */
    /* Code: V8's description of machine code; up to 10.x the machine code follows it. */
    V8_STREAM_HEADER, /* bytes before the first instruction */
    V8_STREAM_CODE,   /* where its Code is; 0: it is the Code */
    V8_CODE_DATA,     /* bytecode, deoptimization data */
    V8_CODE_PLACES,   /* source positions; of baseline code where bytecodes begin */
    V8_CODE_BYTES,
    V8_CODE_FLAGS,
    V8_KIND_BASELINE, /* in the flags' last four bits; those of optimized code are larger */
    /* Deoptimization data: places in an array. */
    V8_DEOPT_INLINED_COUNT,
    V8_DEOPT_LITERALS,
    V8_DEOPT_INLINED,
    V8_WORDS
};
static_assert((int)V8_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

/* In feed_runtime_range.what. */
enum v8_range {
    V8_BUILTINS,  /* where the file has them: interpreter and built-in functions */
    V8_ELSEWHERE, /* code of no module: made by V8, or its built-in code put beside that */
};

SIGNAL_SAFE uint32_t v8_frames(struct runtime_scan *scan, uint32_t entry,
                               const struct runtime_native *native);

#endif

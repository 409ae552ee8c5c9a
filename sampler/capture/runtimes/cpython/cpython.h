/*
 * cpython.h - Python's frames in the places of its eval function's: CPython 3.9 to 3.14.
 *
 *   cpython_finder.c -> words -> cpython_frames (cpython_thread.h: whose chain; cpython_code.h: names)
 *
 * A native frame of the eval function stands for the Python frames that it runs: from 3.11 on a call from
 * Python to Python makes no native frame, so they are several, up to the one that it was entered with. Which
 * they are is not counted but seen: whoever enters the eval function leaves a record in its own native frame
 * (a _PyCFrame; from 3.12 on a frame that has no code), and the chain of frames leads by it. So a stack that
 * has a gap, or a thread with frames of two interpreters, is joined right. 3.9 has no such record: there
 * each native frame takes one.
 *
 * Position   Bytes of bytecode before the instruction that runs, as CPython's own line tables count. A frame
 *            that has not come to its first instruction has none.
 *
 * Signals    SIGNAL_SAFE. A chain may be in the middle of a change, and codes of it freed: a code is one
 *            whose type is PyCode_Type.
 * Source     CPython's Include/internal/ (pycore_frame.h, pycore_interp.h, pycore_runtime.h,
 *            pycore_debug_offsets.h) and Python/ceval.c of each version
 */
#ifndef ISOSCOPE_CPYTHON_H
#define ISOSCOPE_CPYTHON_H

#include "../runtime_scan.h"

/* How a version chains its frames. */
enum cpython_chain {
    CPYTHON_CHAIN_OBJECTS,  /* 3.9: PyFrameObject, one for each native frame */
    CPYTHON_CHAIN_CFRAMES,  /* 3.10: the same, and a CFrame beside each */
    CPYTHON_CHAIN_ENTRIES,  /* 3.11: _PyInterpreterFrame; is_entry ends those of a _PyCFrame */
    CPYTHON_CHAIN_SHIMS_OF, /* 3.12: frames without code end them; the first by a _PyCFrame */
    CPYTHON_CHAIN_SHIMS,    /* 3.13, 3.14: the same, without _PyCFrame */
};

/* Words of the entry. An offset of -1 (CPYTHON_NO_FIELD): the version has no such field. */
enum cpython_word {
    /* Addresses in the process. */
    CPYTHON_RUNTIME,   /* _PyRuntime */
    CPYTHON_CODE_TYPE, /* PyCode_Type */
    /* Facts of the build. */
    CPYTHON_CHAIN,         /* enum cpython_chain */
    CPYTHON_LINES,         /* enum feed_code_lines */
    CPYTHON_EVAL_BYTES,    /* of stack that the eval function takes */
    CPYTHON_EVAL_BEGINS,   /* bytes of code in the main range before it has taken them */
    CPYTHON_POSITION_UNIT, /* bytes of bytecode that a frame's position counts; 0: it is an address */
    CPYTHON_SHIM_OWNER,    /* from this value of a frame's owner on it has no code */
    CPYTHON_STRING_SHIFT, /* bits of a string's state before its kind */
    /* Offsets. */
    CPYTHON_INTERPRETERS, /* in _PyRuntime: the first */
    CPYTHON_INTERPRETER_NEXT,
    CPYTHON_INTERPRETER_THREADS,
    CPYTHON_THREAD_PREVIOUS,
    CPYTHON_THREAD_NEXT,
    CPYTHON_THREAD_INTERPRETER,
    CPYTHON_THREAD_ID,        /* pthread_self() */
    CPYTHON_THREAD_NATIVE_ID, /* gettid() */
    CPYTHON_THREAD_FRAME,     /* the newest frame */
    CPYTHON_THREAD_CFRAME,
    CPYTHON_CFRAME_PREVIOUS,
    CPYTHON_CFRAME_FRAME,
    CPYTHON_FRAME_PREVIOUS,
    CPYTHON_FRAME_CODE,
    CPYTHON_FRAME_POSITION,
    CPYTHON_FRAME_OWNER,  /* a byte; 3.11: is_entry */
    CPYTHON_FRAME_STATE,  /* an int8_t, in 3.10: whether it runs, and how it ended */
    CPYTHON_FRAME_TLBC,   /* which of a code's bytecodes it runs */
    CPYTHON_FRAME_LOCALS, /* its first variable */
    CPYTHON_OBJECT_TYPE,
    CPYTHON_CODE_NAME, /* co_qualname where there is one */
    CPYTHON_CODE_FILE,
    CPYTHON_CODE_FIRST_LINE,
    CPYTHON_CODE_LINES, /* co_lnotab, co_linetable */
    CPYTHON_CODE_BYTES, /* its bytecode */
    CPYTHON_CODE_TLBC,  /* its bytecodes, one for each thread */
    CPYTHON_BYTES_SIZE,
    CPYTHON_BYTES_DATA,
    CPYTHON_STRING_LENGTH,
    CPYTHON_STRING_HASH,
    CPYTHON_STRING_STATE,
    CPYTHON_STRING_ASCII, /* the text of an ASCII string */
    CPYTHON_STRING_OTHER, /* the text of others */
    CPYTHON_TASK_NAME,    /* of a Task of the module _asyncio */
    /* The lock. In _PyRuntime up to 3.11, else found by the interpreter. */
    CPYTHON_GIL,             /* in _PyRuntime */
    CPYTHON_INTERPRETER_GIL, /* a pointer to it */
    CPYTHON_GIL_LOCKED,      /* int32_t: 1: somebody has it; in it */
    CPYTHON_GIL_HOLDER,      /* who has it, or had it last; in it */
    CPYTHON_GIL_ENABLED,     /* int32_t, of a free-threaded build; in it. 0: it is not used */
    CPYTHON_WORDS
};
static_assert((int)CPYTHON_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

#define CPYTHON_NO_FIELD (~UINT64_C(0))

/* In feed_runtime_range.what. */
enum cpython_range {
    CPYTHON_EVAL,       /* where the eval function begins */
    CPYTHON_EVAL_PIECE, /* what the compiler put elsewhere */
};

/* In runtime_cursor.words. */
enum cpython_cursor {
    CPYTHON_AT_THREAD, /* PyThreadState of the frames that were put last; 0: the thread has none */
    CPYTHON_AT_FRAME,  /* the next frame of its chain */
    CPYTHON_AT_CFRAME, /* its _PyCFrame, where there is one */
};

SIGNAL_SAFE uint32_t cpython_frames(struct runtime_scan *scan, uint32_t entry,
                                    const struct runtime_native *native);

#endif

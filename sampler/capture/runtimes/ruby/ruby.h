/*
 * ruby.h - Ruby's frames in the places of its interpreter's: CRuby 3.1.
 *
 *   ruby_finder.c -> words -> ruby_frames (ruby_code.h: names and lines)
 *
 * rb_vm_exec enters the interpreter's loop, vm_exec_core, once for all calls from Ruby to Ruby. So a native
 * frame of it stands for several control frames, up to the one that has the flag FINISH: with that it was
 * entered. Where the loop is a function of its own the frames stand in its place, and rb_vm_exec beneath
 * them is the native frame that it is.
 *
 * A method that is written in C is there twice: as Ruby knows it ("Integer#times", file "<cfunc>"), and, called
 * by that, as the native frames that it is.
 *
 * Position   Words of instructions before the one that runs or calls: ruby_code.h makes pairs of lines.
 *
 * Signals    SIGNAL_SAFE. Frames may be in the middle of being pushed, and what they lead to collected: an
 *            iseq is what says so in its flags.
 * Source     CRuby's vm_core.h, iseq.h, method.h, internal/class.h, symbol.h, ractor_core.h of each version
 */
#ifndef ISOSCOPE_RUBY_H
#define ISOSCOPE_RUBY_H

#include "../runtime_scan.h"

/* Words of the entry. */
enum ruby_word {
    /* Addresses in the process. */
    RUBY_VM,    /* ruby_current_vm_ptr */
    RUBY_NAMES, /* the array of all IDs' names; 0: not found, and methods in C have no frames */
    /* Offsets. */
    RUBY_VM_RACTORS, /* a list */
    RUBY_RACTOR_NODE,
    RUBY_RACTOR_THREADS, /* a list; a thread's node is its beginning */
    RUBY_THREAD_EC,
    RUBY_THREAD_ID,        /* pthread_self() */
    RUBY_THREAD_NATIVE_ID, /* gettid(); an int */
    RUBY_EC_STACK,
    RUBY_EC_STACK_WORDS,
    RUBY_EC_FRAME, /* the newest frame */
    RUBY_FRAME_BYTES,
    RUBY_ISEQ_BODY,
    RUBY_BODY_SIZE, /* uint32_t: words of instructions */
    RUBY_BODY_CODE,
    RUBY_BODY_FILE, /* a string, or an array: as it was named, its real path */
    RUBY_BODY_BASE_LABEL,
    RUBY_BODY_LABEL,
    RUBY_BODY_FIRST_LINE,
    RUBY_BODY_LINES,  /* of its instructions: entries, positions, how many (uint32_t), index */
    RUBY_LINE_BYTES,  /* of an entry, which begins with the line */
    RUBY_CLASS_EXTRA, /* a pointer */
    RUBY_EXTRA_VARIABLES,
    RUBY_METHOD_ID, /* in a method's definition */
    RUBY_ID_LAST_OPERATOR,
    RUBY_WORDS
};
static_assert((int)RUBY_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

/* In feed_runtime_range.what. */
enum ruby_range {
    RUBY_EXEC, /* rb_vm_exec */
    RUBY_LOOP, /* vm_exec_core */
};

/* In runtime_cursor.words. */
enum ruby_cursor {
    RUBY_AT_FRAME,
    RUBY_END,    /* of the control frames */
    RUBY_SERVED, /* the loop that the next rb_vm_exec has entered has its frames */
};

SIGNAL_SAFE uint32_t ruby_frames(struct runtime_scan *scan, uint32_t entry,
                                 const struct runtime_native *native);

#endif

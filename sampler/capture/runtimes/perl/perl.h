/*
 * perl.h - Perl's frames in the places of its run loop's: Perl 5.36 with threads, as Debian builds it.
 *
 *   perl_finder.c -> words -> perl_frames (perl_code.h: names)
 *
 * Perl_runops_standard runs one op after another; a call from Perl to Perl is a context more on Perl's own
 * stack. So a native frame of it stands for the contexts up to the one that returns to nobody: with that it was
 * entered, by sort, a destructor, an overloaded operator, a tie or an extension. Outermost comes the program
 * itself. Functions of extensions are native frames only.
 *
 * An eval in code that was entered so has a run loop of its own, and its contexts are not told from those
 * around: the native frame of the outer one then stands for itself.
 *
 * Position   The line of the statement that runs or calls.
 *
 * Signals    SIGNAL_SAFE. What is read is checked by its types.
 * Source     perl5's intrpvar.h, cop.h, cv.h, gv.h, hv.h, pp_ctl.c
 */
#ifndef ISOSCOPE_PERL_H
#define ISOSCOPE_PERL_H

#include "../runtime_scan.h"

/* Words of the entry. */
enum perl_word {
    /* Addresses in the process. */
    PERL_INTERPRETER, /* PL_curinterp: of the thread that the program began with */
    PERL_KEY,         /* PL_thr_key: of others */
    /* Offsets. */
    PERL_STACK_INFO,
    PERL_STATEMENT,
    PERL_PROGRAM, /* the program's name: a C string */
    PERL_STACK_CONTEXTS,
    PERL_STACK_PREVIOUS,
    PERL_STACK_NEWEST, /* int32_t; -1: none */
    PERL_CONTEXT_BYTES,
    PERL_CONTEXT_CALLER, /* its statement */
    PERL_CONTEXT_RETURNS_TO,
    PERL_CONTEXT_CODE,
    PERL_CONTEXT_EVAL_CODE,
    PERL_CONTEXT_EVAL_OP, /* uint16_t, behind seven bits */
    PERL_OP_REQUIRE,
    PERL_STATEMENT_LINE, /* uint32_t */
    PERL_STATEMENT_FILE, /* a C string */
    PERL_CODE_NAME,      /* a glob, or a name */
    PERL_CODE_FLAGS,     /* uint32_t */
    PERL_CODE_NAMED,     /* in the flags: it is a name */
    PERL_CODE_STASH,
    PERL_CODE_FILE, /* a C string */
    PERL_CODE_ROOT,
    PERL_GLOB_STASH,
    PERL_GLOB_NAME,
    PERL_STASH_NAME,
    PERL_STASH_NAMES, /* int32_t; not 0: its name is an array of names */
    PERL_WORDS
};
static_assert((int)PERL_WORDS <= (int)FEED_RUNTIME_WORDS_MAX, "layout");

/* In feed_runtime_range.what. */
enum perl_range {
    PERL_LOOP,
    PERL_CATCH, /* an op that may run a loop of its own */
};

/* In runtime_cursor.words. */
enum perl_cursor {
    PERL_AT_STACK, /* 0: all were put */
    PERL_AT_INDEX, /* of the next context + 1 */
    PERL_AT_STATEMENT,
    PERL_AT_INTERPRETER,
    PERL_SERVED, /* the next loop's frames were put with the last one's */
    PERL_LOOPED, /* frames were put, and no op that may run a loop was passed since */
};

SIGNAL_SAFE uint32_t perl_frames(struct runtime_scan *scan, uint32_t entry,
                                 const struct runtime_native *native);

#endif

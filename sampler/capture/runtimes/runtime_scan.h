/*
 * runtime_scan.h - what a runtime runs, in the places of its own native frames.
 *
 *   unwind.c (a native frame of a runtime's ranges) -> runtime_scan_frames -> the walker of its
 *   kind -> frames (code, position), innermost first
 *
 * A scan goes with one walk of one stack, leaf to root, of the thread that runs it or of one that sleeps in
 * another process. A walker of a kind is a file here: cpython.h, ruby.h, ... It gets what the service
 * has found out (feed_runtime.words, by profile/runtimes/), reads by guarded_memory.h alone, calls
 * nothing of the runtime, and ends.
 *
 * A frame is (code, position). code_cache.h knows a code by what identifies it: address and contents that a
 * reused address would not have again. Only for one that is new are its texts read.
 *
 * Signals    SIGNAL_SAFE.
 * Errors     None: what cannot be read has no frames, and the native frame stands.
 */
#ifndef ISOSCOPE_RUNTIME_SCAN_H
#define ISOSCOPE_RUNTIME_SCAN_H

#include "code_cache.h"
#include "guarded_memory.h"

#include "../../feed/feed_codes.h"

#include <ucontext.h>

/* The native frame that the walk has come to. */
struct runtime_native {
    uint64_t pc; /* where it stands; of a caller, its return address - 1 */
    uint64_t sp, fp;
    bool fp_known;
    bool outside; /* of a JIT's code, in no module */
    /* All registers: of the leaf, and of what a signal interrupted. NULL: of a caller. */
    const ucontext_t *context;
};

/* Room for the texts of a code that is new, and for what they are made of. Any bytes at first. */
struct runtime_texts {
    char name[FEED_CODE_NAME_MAX + 1], file[FEED_CODE_FILE_MAX + 1];
    uint8_t table[FEED_CODE_TABLE_MAX];
    uint8_t raw[4 * (FEED_CODE_FILE_MAX + 1)];
};

enum { RUNTIME_SPILL = 32 }; /* the outermost frames that found no room: unwind.c joins them */

struct runtime_scan {
    struct feed_writer *writer;  /* whose runtimes and codes; of the program that is walked */
    struct code_cache *cache;    /* NULL: texts are read each time */
    struct runtime_texts *texts; /* of this scan alone while it lasts */
    struct guarded_memory memory;
    int32_t tid;             /* as the program numbers it */
    uint64_t thread_pointer; /* fs base, tpidr_el0; 0: not known */
    uint32_t wants;          /* FEED_WANT_* */
    uint64_t waits_at;       /* the word that its futex call sleeps at; 0: none, or not known */
    const ucontext_t *interrupted; /* its own registers; NULL: it is another process's */
    uint32_t used;                 /* entries of the runtime table, when it began */
    uint64_t low, high;            /* all their ranges lie between */
    /* By entry of the runtime table; the walkers' own, zero when a stack begins. */
    struct runtime_cursor {
        bool begun, ended;
        uint64_t words[6];
    } cursors[FEED_RUNTIMES_MAX];
    /* Where the frames go. */
    uint64_t *frames;
    uint32_t put, room;
    uint64_t spill[RUNTIME_SPILL];
    /* Said by a walker, of the thread as it is now. */
    enum runtime_lock { RUNTIME_LOCK_UNKNOWN, RUNTIME_LOCK_HELD, RUNTIME_LOCK_WAIT } lock;
    uint32_t task; /* in names: of what the thread runs (FEED_WANT_TASKS); 0: none */
};

/* Entries of the runtime table that are told; 0: a program without a runtime, which pays this load. */
SIGNAL_SAFE_INLINE uint32_t runtimes_used(const struct feed_writer *writer)
{
    uint32_t used =
        atomic_load_explicit(&writer->header->control.runtimes_used, memory_order_acquire);

    return used < FEED_RUNTIMES_MAX ? used : FEED_RUNTIMES_MAX;
}

/* Writer, cache, texts, memory, tid, thread_pointer and wants are filled in; this zeroes the rest.
 * False: the program has no runtime that is known. */
SIGNAL_SAFE bool runtime_scan_begin(struct runtime_scan *scan);

/* Puts the frames that stand for this native one at scan->frames. Returns how many there are (they may be
 * more than room: of those the last ones are in spill); 0: it stands for itself. */
SIGNAL_SAFE uint32_t runtime_scan_frames(struct runtime_scan *scan,
                                         const struct runtime_native *native);

/* The caller of code that a runtime made, where frame pointers do not lead to it. native: in and out, its
 * pc as it is: of a caller the return address. False: the runtime does not say. */
SIGNAL_SAFE bool runtime_scan_step(struct runtime_scan *scan, struct runtime_native *native);

/* Of one's own thread, before its walk: what its registers say of a system call that it comes from. */
SIGNAL_SAFE void runtime_scan_interrupted(struct runtime_scan *scan, const ucontext_t *context);
/* After the walk: what is wanted besides frames. */
SIGNAL_SAFE void runtime_scan_end(struct runtime_scan *scan);

/* For walkers. */

/* Puts a frame. */
SIGNAL_SAFE_INLINE void runtime_put(struct runtime_scan *scan, uint32_t code, uint32_t position)
{
    const uint64_t frame =
        FEED_FRAME_CODE(code, position < FEED_NO_POSITION ? position : FEED_NO_POSITION);

    if (scan->put < scan->room)
        scan->frames[scan->put] = frame;
    else
        scan->spill[scan->put % RUNTIME_SPILL] = frame;
    scan->put++;
}

/* In words of the entry; 0: there is no such word. */
SIGNAL_SAFE_INLINE uint64_t runtime_word(const struct feed_runtime *runtime, uint32_t word)
{
    return word < FEED_RUNTIME_WORDS_MAX ? runtime->words[word] : 0;
}

#endif

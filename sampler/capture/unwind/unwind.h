/*
 * unwind.h - registers to pcs, in the tick handler.
 *
 *   handler.h -> unwind (code_map.h says how) -> frames into the thread's ring
 *
 * Reads the thread's own stack between its stack pointer and its end, and the sampler's tables; any
 * other stack (a coroutine's, an alternate one) through the kernel; and a runtime's memory by
 * guarded_memory.h. So nothing can fault but a frame provider that reads otherwise than by what it is
 * given (isoscope.h). What the tables cannot say ends the stack, with a reason.
 *
 * Signals    SIGNAL_SAFE; bounded by frames_max, but for one walk a thread (16,384 frames).
 */
#ifndef ISOSCOPE_UNWIND_H
#define ISOSCOPE_UNWIND_H

#include "code_map.h"
#include "frame_providers.h"
#include "named_code.h"

#include "../runtimes/runtime_scan.h"

#include "../../feed/layout.h"

#include <stdint.h>
#include <ucontext.h>

/* A thread's own stack; all zeros when it is not known: then every stack is a foreign one. A frame
 * at root or above has no caller, whatever its rules say. */
struct stack_range {
    uint64_t low, high; /* readable, once the stack pointer lies between them */
    uint64_t root;      /* 0: unknown */
};

enum { OUTER_FRAMES_MAX = 32 };

/* The outermost frames of a thread's last whole stack: they seldom change, and stand in for those
 * of a stack too deep to walk, where they are still found in their places. All zeros at first. */
struct outer_frames {
    uint32_t walked;  /* the one long walk was made, whatever it found */
    uint32_t current; /* of the two below; the other one is written by the walk that goes on */
    uint32_t depth[2];
    struct outer_frame {
        uint64_t sp, pc_at, pc, encoded;
    } noted[2][OUTER_FRAMES_MAX];
};

struct unwind_request {
    const struct code_map *map;
    const struct stack_range *stack;
    struct outer_frames *outer_frames; /* the thread's */
    const ucontext_t *context;
    uint32_t frames_max; /* 1 or more */
    /* Our own; both NULL: the program tells nothing of its code. */
    const struct named_code *named;
    const struct frame_providers *providers;
    bool cramped; /* the walker has little stack itself: not by live_cfi.h, which takes a KB */
    struct runtime_scan
        *scan; /* begun for this walk; NULL: of runtimes nothing is known, or wanted */
};

struct unwind_result {
    uint32_t depth;
    enum feed_end end;
    bool unknown_code; /* a pc lay in no module of the map, or in one that may be gone */
    /* Of the thread as it is now, by its scan. */
    enum runtime_lock lock;
    uint32_t task; /* in names; 0: none */
};

/* Fills frames, leaf first, as layout.h describes them; room for frames_max. */
SIGNAL_SAFE void unwind(const struct unwind_request *request, uint64_t *frames,
                        struct unwind_result *result);

/* Another process's thread: asleep in the kernel, or as it was when it was stopped. */
struct unwind_sleeper {
    int32_t pid;
    /* Where its memory is, as memory_read_some gives it; NULL: the kernel reads it, of pid. */
    long (*read)(const void *context, void *out, uint64_t address, uint64_t bytes);
    const void *read_context;
    /* All of its registers, and pc, sp and fp are not looked at; NULL: no more is known than those. */
    const ucontext_t *registers;
    /* The frame of code that the program told of; false: it told of none at pc. */
    bool (*named)(void *context, uint64_t pc, uint64_t *frame);
    void *named_context;
    uint64_t pc, sp, fp;
    bool fp_known;
    uint64_t waits_at; /* the word of its futex call; 0: it is in none */
    /* Scratch memory of the caller: a copy of the stack's top, so that few words need the kernel,
     * and of the registers that a signal handler on that stack interrupted. */
    uint64_t copy_low, copy_bytes;
    uint8_t copy[4096];
    ucontext_t context;
};

/* As unwind, from outside. request->context, named and providers are not looked at; its scan reads the
 * other process. sleeper->pc, sp and fp become the last frame's, registers NULL. The thread may wake
 * meanwhile: nothing faults, and the caller finds out and throws the frames away. */
SIGNAL_SAFE void unwind_asleep(const struct unwind_request *request, struct unwind_sleeper *sleeper,
                               uint64_t *frames, struct unwind_result *result);

#endif

/*
 * frame.h - one frame of a walk: its registers as far as they are known, the words of its stack.
 *
 *   unwind.c -> frame, which step.h turns into its caller's
 *
 * For unwind.c alone: what is here has no object of its own, it lands in the walk.
 *
 * Signals    SIGNAL_SAFE. Nothing faults: what lies outside the thread's own stack is read
 *            through the kernel.
 * Errors     false: no such word, or a register nobody saved.
 */
#ifndef ISOSCOPE_UNWIND_FRAME_H
#define ISOSCOPE_UNWIND_FRAME_H

#include "unwind.h"

#include "../system/arch.h"
#include "../system/memory.h"

/* One frame. context: where all its registers are, for the leaf and what a signal interrupted. */
struct unwind_frame {
    uint64_t pc, sp, fp;
    const ucontext_t *context;
    const struct stack_range *stack;
    bool fp_lost;
    bool third_known;
    uint64_t third, third_at;       /* third_at: where it was saved; 0: it is in third */
    uint64_t pc_at;                 /* where pc was loaded from; 0: it was in a register */
    struct unwind_sleeper *sleeper; /* another process's; NULL: the thread that runs this */
    bool cramped;                   /* as in the request */
    bool foreign; /* sp lies on another stack: a coroutine's, or the signals' alternate one */
#ifdef __aarch64__
    uint64_t lr;
    bool lr_known;
#endif
};

SIGNAL_SAFE_INLINE void frame_from_context(struct unwind_frame *frame, const ucontext_t *context)
{
    frame->context = context;
    frame->pc = arch_pc(context);
    frame->sp = arch_register(context, ARCH_SP);
    frame->fp = arch_register(context, ARCH_FP);
    frame->fp_lost = false;
    frame->third = arch_register(context, ARCH_THIRD);
    frame->third_at = 0;
    frame->third_known = true;
    frame->pc_at = 0;
    frame->foreign =
        frame->sleeper || frame->sp < frame->stack->low || frame->sp > frame->stack->high;
#ifdef __aarch64__
    frame->lr = arch_register(context, ARCH_RA);
    frame->lr_known = true;
#endif
}

/* Of a stack nobody registered it is not known where it ends, nor whether it will stay: the kernel
 * reads it for us, and says no where a plain load would fault. */
SIGNAL_SAFE_INLINE long frame_read_foreign(const struct unwind_frame *frame, uint64_t address,
                                           void *out, uint64_t bytes)
{
    const struct unwind_sleeper *sleeper = frame->sleeper;

    if (sleeper && sleeper->read)
        return sleeper->read(sleeper->read_context, out, address, bytes);
    if (sleeper)
        return memory_read_some(sleeper->pid, out, address, bytes);
    return memory_copy(0, out, address, bytes);
}

SIGNAL_SAFE_INLINE bool frame_load_foreign(const struct unwind_frame *frame, uint64_t address,
                                           uint64_t *out)
{
    const struct unwind_sleeper *sleeper = frame->sleeper;

    if (sleeper && address - sleeper->copy_low < sleeper->copy_bytes) {
        *out = *(const uint64_t *)(sleeper->copy + (address - sleeper->copy_low));
        return true;
    }
    return frame_read_foreign(frame, address, out, sizeof *out) == sizeof *out;
}

/* A word of the thread's stack, of this frame or of one before. */
SIGNAL_SAFE_INLINE bool frame_load_any(const struct unwind_frame *frame, uint64_t address,
                                       uint64_t *out)
{
    if (address % 8)
        return false;
    if (frame->foreign)
        return frame_load_foreign(frame, address, out);
    if (address < frame->stack->low || address > frame->stack->high - 8)
        return false;
    *out = *(const uint64_t *)address;
    return true;
}

/* A word of this frame. In an epilogue, compilers still give the place that a register was just
 * popped from: it lies below the stack pointer, where the signal left it whole. */
SIGNAL_SAFE_INLINE bool frame_load(const struct unwind_frame *frame, uint64_t address,
                                   uint64_t *out)
{
    return address + ARCH_RED_ZONE >= frame->sp && frame_load_any(frame, address, out);
}

/* Read when it is asked for: few functions do, and each one saves it. */
SIGNAL_SAFE_INLINE bool frame_third(const struct unwind_frame *frame, uint64_t *out)
{
    if (!frame->third_known)
        return false;
    *out = frame->third;
    return !frame->third_at || frame_load_any(frame, frame->third_at, out);
}

SIGNAL_SAFE_INLINE bool frame_register(const struct unwind_frame *frame, unsigned reg,
                                       uint64_t *out)
{
    if (reg == ARCH_SP)
        *out = frame->sp;
    else if (reg == ARCH_FP && !frame->fp_lost)
        *out = frame->fp;
    else if (reg < ARCH_REGS && frame->context)
        *out = arch_register(frame->context, reg);
    else
        return reg == ARCH_THIRD && frame_third(frame, out);
    return true;
}

#endif

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

#include "../../feed/sys.h"
#include "../system/arch.h"

#include <sys/uio.h>

/* One frame. context: where all its registers are, for the leaf and what a signal interrupted. */
struct frame {
    uint64_t pc, sp, fp;
    const ucontext_t *context;
    const struct stack_range *stack;
    bool fp_lost;
    uint64_t pc_at;                 /* where pc was loaded from; 0: it was in a register */
    struct unwind_sleeper *sleeper; /* NULL: the thread that runs this */
    bool foreign; /* sp lies on another stack: a coroutine's, or the signals' alternate one */
#ifdef __aarch64__
    uint64_t lr;
    bool lr_known;
#endif
};

SIGNAL_SAFE_INLINE void frame_from_context(struct frame *frame, const ucontext_t *context)
{
    frame->context = context;
    frame->pc = arch_pc(context);
    frame->sp = arch_register(context, ARCH_SP);
    frame->fp = arch_register(context, ARCH_FP);
    frame->fp_lost = false;
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
SIGNAL_SAFE_INLINE long frame_read_foreign(uint64_t address, void *out, uint64_t bytes)
{
    struct iovec to = { out, bytes };
    struct iovec from = { (void *)address, bytes };

    return sys_call6(SYS_process_vm_readv, sys_call0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0);
}

SIGNAL_SAFE_INLINE bool frame_load_foreign(const struct frame *frame, uint64_t address,
                                           uint64_t *out)
{
    const struct unwind_sleeper *sleeper = frame->sleeper;

    if (sleeper && address - sleeper->copy_low < sleeper->copy_bytes) {
        *out = *(const uint64_t *)(sleeper->copy + (address - sleeper->copy_low));
        return true;
    }
    return frame_read_foreign(address, out, sizeof *out) == sizeof *out;
}

/* Reads a word of the thread's stack. In an epilogue, compilers still give the place that a
 * register was just popped from: it lies below the stack pointer, where the signal left it whole.
 */
SIGNAL_SAFE_INLINE bool frame_load(const struct frame *frame, uint64_t address, uint64_t *out)
{
    if (address + ARCH_RED_ZONE < frame->sp || address % 8)
        return false;
    if (frame->foreign)
        return frame_load_foreign(frame, address, out);
    if (address < frame->stack->low || address > frame->stack->high - 8)
        return false;
    *out = *(const uint64_t *)address;
    return true;
}

SIGNAL_SAFE_INLINE bool frame_register(const struct frame *frame, unsigned reg, uint64_t *out)
{
    if (reg == ARCH_SP)
        *out = frame->sp;
    else if (reg == ARCH_FP && !frame->fp_lost)
        *out = frame->fp;
    else if (reg < ARCH_REGS && frame->context)
        *out = arch_register(frame->context, reg);
    else
        return false;
    return true;
}

#endif

/*
 * inject_machine_x86_64.h - see inject_machine.h.
 *
 * Source     the kernel's arch/x86/include/uapi/asm/sigcontext.h and ptrace(2)
 */
#ifndef ISOSCOPE_INJECT_MACHINE_X86_64_H
#define ISOSCOPE_INJECT_MACHINE_X86_64_H

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
    INJECT_WORKS = 1,
    INJECT_VECTORS = NT_X86_XSTATE,
    INJECT_RED_ZONE = 128,
    FRAME_ALIGN = 64,
    SOFTWARE_BYTES_AT = 464, /* in the vector registers' first part */
    SEGMENTS = 0x2b0000 | 0x33,
};

/* In libc: syscall, ret; and what the return from a signal's handler goes to. */
static const uint8_t inject_call_bytes[] = { 0x0f, 0x05, 0xc3 };
static const uint8_t inject_return_bytes[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
/* Ours: call *%rbx; mov %rax, (%r12); ret. */
static const uint8_t inject_thunk_bytes[] = { 0xff, 0xd3, 0x49, 0x89, 0x04, 0x24, 0xc3, 0x90 };

/* The kernel's struct ucontext: libc's is the same up to the signal mask, of which the kernel has 8 bytes. */
enum { CONTEXT_BYTES = offsetof(ucontext_t, uc_sigmask) + 8 };

static inline long inject_result(const struct user_regs_struct *registers)
{
    return (long)registers->rax;
}

static inline uint64_t inject_stack_pointer(const struct user_regs_struct *registers)
{
    return registers->rsp;
}

static inline uint64_t inject_pc(const struct user_regs_struct *registers)
{
    return registers->rip;
}

static inline uint64_t inject_thread_pointer(const struct user_regs_struct *registers)
{
    return registers->fs_base;
}

/* Of the system call that a thread is in. */
static inline uint64_t inject_first_argument(const struct user_regs_struct *registers)
{
    return registers->rdi;
}

/* The system call that is being left; -1: none is. */
static inline long inject_call_number(const struct user_regs_struct *registers)
{
    return (long)registers->orig_rax;
}

/* The instruction that called the kernel. */
static inline uint64_t inject_call_place(const struct user_regs_struct *registers)
{
    return registers->rip - 2;
}

static inline bool inject_is_call(const uint8_t bytes[2])
{
    return bytes[0] == 0x0f && bytes[1] == 0x05;
}

/* A call that was cut short is made anew. */
static inline void inject_call_again(struct user_regs_struct *registers)
{
    registers->rax = registers->orig_rax;
    registers->rip -= 2;
    registers->orig_rax = (unsigned long long)-1;
}

/* Bytes that a frame takes, at an address that is a multiple of 64. */
static inline size_t inject_frame_bytes(const struct inject_context *context)
{
    size_t before =
        (sizeof(uint64_t) + CONTEXT_BYTES + FRAME_ALIGN - 1) & ~(size_t)(FRAME_ALIGN - 1);

    return before + context->vectors_bytes + sizeof(uint32_t);
}

/* Who returns from a function with the stack pointer at `at` goes on as context says; back: where inject_return_bytes are. */
static inline void inject_frame(const struct inject_context *context, uint64_t back, uint64_t at,
                                uint8_t *out)
{
    const struct user_regs_struct *from = &context->registers;
    size_t vectors_at = inject_frame_bytes(context) - context->vectors_bytes - sizeof(uint32_t);
    const uint32_t end = FP_XSTATE_MAGIC2, size = (uint32_t)context->vectors_bytes;
    struct _fpx_sw_bytes software = { .magic1 = FP_XSTATE_MAGIC1,
                                      .extended_size = size + (uint32_t)sizeof(end),
                                      .xstate_size = size };
    ucontext_t made;
    greg_t *general = made.uc_mcontext.gregs;

    memset(&made, 0, sizeof(made));
    made.uc_flags = 7;               /* extended vector registers; the stack segment is as said */
    made.uc_stack.ss_flags = 0x7000; /* none such: so the thread keeps its stack for signals */
    general[REG_R8] = (greg_t)from->r8;
    general[REG_R9] = (greg_t)from->r9;
    general[REG_R10] = (greg_t)from->r10;
    general[REG_R11] = (greg_t)from->r11;
    general[REG_R12] = (greg_t)from->r12;
    general[REG_R13] = (greg_t)from->r13;
    general[REG_R14] = (greg_t)from->r14;
    general[REG_R15] = (greg_t)from->r15;
    general[REG_RDI] = (greg_t)from->rdi;
    general[REG_RSI] = (greg_t)from->rsi;
    general[REG_RBP] = (greg_t)from->rbp;
    general[REG_RBX] = (greg_t)from->rbx;
    general[REG_RDX] = (greg_t)from->rdx;
    general[REG_RAX] = (greg_t)from->rax;
    general[REG_RCX] = (greg_t)from->rcx;
    general[REG_RSP] = (greg_t)from->rsp;
    general[REG_RIP] = (greg_t)from->rip;
    general[REG_EFL] = (greg_t)from->eflags;
    general[REG_CSGSFS] = (greg_t)(from->cs | from->ss << 48);
    made.uc_mcontext.fpregs = (fpregset_t)(at + vectors_at);
    memcpy(&made.uc_sigmask, &context->mask, sizeof(context->mask));
    memcpy(out, &back, sizeof(back));
    memcpy(out + sizeof(back), &made, CONTEXT_BYTES);
    memcpy(out + vectors_at, context->vectors, context->vectors_bytes);
    /* What ptrace has here is which parts there are. */
    memcpy(&software.xstate_bv, context->vectors + SOFTWARE_BYTES_AT, sizeof(software.xstate_bv));
    memcpy(out + vectors_at + SOFTWARE_BYTES_AT, &software, sizeof(software));
    memcpy(out + vectors_at + context->vectors_bytes, &end, sizeof(end));
}

/* To call the kernel by the bytes at `call`, and go back by the frame at `frame`. */
static inline void inject_set_call(struct user_regs_struct *out, uint64_t call, uint64_t frame,
                                   long number, const uint64_t arguments[6])
{
    out->orig_rax = (unsigned long long)-1;
    out->rip = call;
    out->rsp = frame;
    out->rax = (unsigned long long)number;
    out->rdi = arguments[0];
    out->rsi = arguments[1];
    out->rdx = arguments[2];
    out->r10 = arguments[3];
    out->r8 = arguments[4];
    out->r9 = arguments[5];
    out->eflags &= ~UINT64_C(0x500); /* upwards, and no steps */
}

/* To call a function by the thunk, which puts its result to `result`, and go back by the frame. */
static inline void inject_set_function(struct user_regs_struct *out, uint64_t thunk, uint64_t frame,
                                       uint64_t function, const uint64_t arguments[2],
                                       uint64_t result)
{
    const uint64_t six[6] = { arguments[0], arguments[1], 0, 0, 0, 0 };

    inject_set_call(out, thunk, frame, 0, six);
    out->rbx = function;
    out->r12 = result;
    out->rbp = 0;
}

/* To go back by the frame at once. */
static inline void inject_set_back(struct user_regs_struct *out, uint64_t back, uint64_t frame)
{
    out->orig_rax = (unsigned long long)-1;
    out->rip = back;
    out->rsp = frame + sizeof(uint64_t);
}

/* Whether a thread with these registers, about to call the kernel, goes back by this frame. */
static inline bool inject_goes_back(const struct user_regs_struct *registers, uint64_t frame)
{
    return registers->orig_rax == SYS_rt_sigreturn && registers->rsp == frame + sizeof(uint64_t);
}

#endif

/*
 * inject_machine_aarch64.h - see inject_machine.h. Injection is refused here: nobody has tried it on this processor.
 */
#ifndef ISOSCOPE_INJECT_MACHINE_AARCH64_H
#define ISOSCOPE_INJECT_MACHINE_AARCH64_H

#include <elf.h>

enum { INJECT_WORKS = 0, INJECT_VECTORS = NT_PRFPREG, INJECT_RED_ZONE = 0 };

static const uint8_t inject_call_bytes[] = { 0x01, 0x00, 0x00, 0xd4 };
static const uint8_t inject_return_bytes[] = { 0x68, 0x11, 0x80, 0xd2 };
static const uint8_t inject_thunk_bytes[8];

static inline long inject_result(const struct user_regs_struct *registers)
{
    return (long)registers->regs[0];
}

static inline uint64_t inject_stack_pointer(const struct user_regs_struct *registers)
{
    return registers->sp;
}

static inline uint64_t inject_pc(const struct user_regs_struct *registers)
{
    return registers->pc;
}

static inline uint64_t inject_thread_pointer(const struct user_regs_struct *registers)
{
    (void)registers;
    return 0;
}

/* Of the system call that a thread is in. */
static inline uint64_t inject_first_argument(const struct user_regs_struct *registers)
{
    return registers->regs[0];
}

static inline long inject_call_number(const struct user_regs_struct *registers)
{
    (void)registers;
    return -1;
}

static inline uint64_t inject_call_place(const struct user_regs_struct *registers)
{
    return registers->pc - 4;
}

static inline bool inject_is_call(const uint8_t bytes[2])
{
    (void)bytes;
    return false;
}

static inline void inject_call_again(struct user_regs_struct *registers)
{
    (void)registers;
}

static inline size_t inject_frame_bytes(const struct inject_context *context)
{
    (void)context;
    return 0;
}

static inline void inject_frame(const struct inject_context *context, uint64_t back, uint64_t at,
                                uint8_t *out)
{
    (void)context, (void)back, (void)at, (void)out;
}

static inline void inject_set_call(struct user_regs_struct *out, uint64_t call, uint64_t frame,
                                   long number, const uint64_t arguments[6])
{
    (void)out, (void)call, (void)frame, (void)number, (void)arguments;
}

static inline void inject_set_function(struct user_regs_struct *out, uint64_t thunk, uint64_t frame,
                                       uint64_t function, const uint64_t arguments[2],
                                       uint64_t result)
{
    (void)out, (void)thunk, (void)frame, (void)function, (void)arguments, (void)result;
}

static inline void inject_set_back(struct user_regs_struct *out, uint64_t back, uint64_t frame)
{
    (void)out, (void)back, (void)frame;
}

static inline bool inject_goes_back(const struct user_regs_struct *registers, uint64_t frame)
{
    (void)registers, (void)frame;
    return false;
}

#endif

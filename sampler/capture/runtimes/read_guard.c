#include "read_guard.h"

#include "../system/arch.h"

/* Where it may fault: read_guard_begin to read_guard_end, which is where it goes then. */
#if defined(__x86_64__)
__asm__(".pushsection .text.signal_safe,\"ax\",@progbits\n"
        ".globl read_guard_copy, read_guard_begin, read_guard_end\n"
        ".hidden read_guard_copy, read_guard_begin, read_guard_end\n"
        ".type read_guard_copy, @function\n"
        "read_guard_copy:\n"
        ".cfi_startproc\n"
        "read_guard_begin:\n"
        "1:  cmpq $8, %rdx\n"
        "    jb 2f\n"
        "    movq (%rsi), %rax\n"
        "    movq %rax, (%rdi)\n"
        "    addq $8, %rsi\n"
        "    addq $8, %rdi\n"
        "    subq $8, %rdx\n"
        "    jmp 1b\n"
        "2:  testq %rdx, %rdx\n"
        "    jz 3f\n"
        "    movb (%rsi), %al\n"
        "    movb %al, (%rdi)\n"
        "    incq %rsi\n"
        "    incq %rdi\n"
        "    decq %rdx\n"
        "    jmp 2b\n"
        "3:  movl $1, %eax\n"
        "    ret\n"
        "read_guard_end:\n"
        "    xorl %eax, %eax\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size read_guard_copy, . - read_guard_copy\n"
        ".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text.signal_safe,\"ax\",@progbits\n"
        ".globl read_guard_copy, read_guard_begin, read_guard_end\n"
        ".hidden read_guard_copy, read_guard_begin, read_guard_end\n"
        ".type read_guard_copy, %function\n"
        "read_guard_copy:\n"
        ".cfi_startproc\n"
        "read_guard_begin:\n"
        "1:  cmp x2, #8\n"
        "    b.lo 2f\n"
        "    ldr x3, [x1], #8\n"
        "    str x3, [x0], #8\n"
        "    sub x2, x2, #8\n"
        "    b 1b\n"
        "2:  cbz x2, 3f\n"
        "    ldrb w3, [x1], #1\n"
        "    strb w3, [x0], #1\n"
        "    sub x2, x2, #1\n"
        "    b 2b\n"
        "3:  mov w0, #1\n"
        "    ret\n"
        "read_guard_end:\n"
        "    mov w0, #0\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size read_guard_copy, . - read_guard_copy\n"
        ".popsection\n");
#endif

extern const char read_guard_begin[] __attribute__((visibility("hidden")));
extern const char read_guard_end[] __attribute__((visibility("hidden")));

bool read_guard_leave(ucontext_t *context)
{
    uint64_t pc = arch_pc(context);

    if (pc < (uint64_t)read_guard_begin || pc >= (uint64_t)read_guard_end)
        return false;
    arch_set_pc(context, (uint64_t)read_guard_end);
    return true;
}

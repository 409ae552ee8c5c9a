/*
 * preload_x86_64.S - dlopen and dlmopen, told and passed on. Mirrors preload_aarch64.S.
 *
 * The arguments are kept, the real function is asked for, and jumped to: it finds its caller's
 * return address on the stack as if nobody stood between.
 */
.macro pass_on name
    .text
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    call preload_next_\name
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmpq *%rax
    .cfi_endproc
    .size \name, . - \name
.endm

pass_on dlopen
pass_on dlmopen

/* syscall(), as it is called: nothing comes between but for the marked numbers (rights_calls.c). */
    .text
    .globl syscall
    .type syscall, @function
syscall:
    .cfi_startproc
    cmpq $512, %rdi /* PRELOAD_MARKED_SYSCALLS */
    jae 1f
    leaq preload_syscall_marks(%rip), %rax
    cmpb $0, (%rax, %rdi)
    jne 2f
1:  movq preload_next_syscall(%rip), %rax
    testq %rax, %rax
    je 2f
    jmpq *%rax
2:  jmp preload_marked_syscall
    .cfi_endproc
    .size syscall, . - syscall

.section .note.GNU-stack, "", @progbits

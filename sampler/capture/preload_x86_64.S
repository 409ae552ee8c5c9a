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

.section .note.GNU-stack, "", @progbits

/*
 * late_x86_64.S - calls of the loader, which knows its caller by the address that it returns to: they are looked at, and jumped
 * to. Mirrors late_aarch64.S.
 */
    .text
.macro LOOK_AND_JUMP name
    .globl late_\name
    .hidden late_\name
    .type late_\name, @function
late_\name:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    call late_look
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmpq *late_next_\name(%rip)
    .cfi_endproc
    .size late_\name, . - late_\name
.endm

LOOK_AND_JUMP dlopen
LOOK_AND_JUMP dlsym
LOOK_AND_JUMP dlvsym

.section .note.GNU-stack, "", @progbits

/*
 * preload_x86_64.S - syscall(), looked at and passed on. Mirrors preload_aarch64.S.
 *
 * It is called as it was: nothing comes between but for the marked numbers (sandbox_calls.c).
 */
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

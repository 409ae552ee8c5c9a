/*
 * preload_aarch64.S - syscall(), looked at and passed on. Mirrors preload_x86_64.S.
 *
 * It is called as it was: nothing comes between but for the marked numbers (sandbox_calls.c).
 */
    .text
    .globl syscall
    .type syscall, %function
syscall:
    .cfi_startproc
    cmp x0, #512 /* PRELOAD_MARKED_SYSCALLS */
    b.hs 1f
    adrp x16, preload_syscall_marks
    add x16, x16, :lo12:preload_syscall_marks
    ldrb w17, [x16, x0]
    cbnz w17, 2f
1:  adrp x16, preload_next_syscall
    ldr x16, [x16, :lo12:preload_next_syscall]
    cbz x16, 2f
    br x16
2:  b preload_marked_syscall
    .cfi_endproc
    .size syscall, . - syscall

.section .note.GNU-stack, "", %progbits

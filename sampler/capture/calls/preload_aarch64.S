/*
 * preload_aarch64.S - dlopen and dlmopen, told and passed on. Mirrors preload_x86_64.S.
 *
 * The arguments and the link register are kept, the real function is asked for, and jumped to: it
 * finds its caller's return address in the link register as if nobody stood between.
 */
.macro pass_on name
    .text
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    stp x29, x30, [sp, #-48]!
    .cfi_adjust_cfa_offset 48
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    bl preload_next_\name
    mov x16, x0
    ldr x2, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #48
    .cfi_adjust_cfa_offset -48
    .cfi_restore x29
    .cfi_restore x30
    br x16
    .cfi_endproc
    .size \name, . - \name
.endm

pass_on dlopen
pass_on dlmopen

/* syscall(), as it is called: nothing comes between but for the marked numbers (rights_calls.c). */
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

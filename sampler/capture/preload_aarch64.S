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

.section .note.GNU-stack, "", %progbits

/*
 * late_aarch64.S - calls of the loader, which knows its caller by the address that it returns to: they are looked at, and jumped
 * to. Mirrors late_x86_64.S.
 */
    .text
.macro LOOK_AND_JUMP name
    .globl late_\name
    .hidden late_\name
    .type late_\name, %function
late_\name:
    .cfi_startproc
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    mov x29, sp
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    bl late_look
    ldr x2, [sp, #32]
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #48
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    adrp x16, late_next_\name
    ldr x16, [x16, :lo12:late_next_\name]
    br x16
    .cfi_endproc
    .size late_\name, . - late_\name
.endm

LOOK_AND_JUMP dlopen
LOOK_AND_JUMP dlsym
LOOK_AND_JUMP dlvsym

.section .note.GNU-stack, "", %progbits

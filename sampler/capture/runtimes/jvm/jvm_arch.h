/*
 * jvm_arch.h - what a JVM's code does with the processor: its registers, its prologues and epilogues.
 *
 * For jvm_step.c alone.
 *
 * Signals    SIGNAL_SAFE.
 * Source     HotSpot's interp_masm, macroAssembler and sharedRuntime of x86 and aarch64
 */
#ifndef ISOSCOPE_JVM_ARCH_H
#define ISOSCOPE_JVM_ARCH_H

#include "../../../feed/signal_safe.h"
#include "../../system/arch.h"

#include <string.h>

enum { JVM_CALL_BYTES = 8, JVM_EPILOGUE_BYTES = 24 };

#if defined(__x86_64__)

enum {
    JVM_BCP = 13,       /* r13, in the interpreter: the bytecode's address; */
    JVM_SENDER_SP = 13, /* in its entries: the caller's stack pointer */
    JVM_METHOD = 3,     /* rbx, in its entries: the Method */
    JVM_RETURN = 0,     /* rax, in its entries: the return address, popped */
};

/* A leaf whose frame is not made: words on the stack above the return address, or none where that is in
 * a register. */
enum { JVM_RETURN_ON_STACK = 1 };

/* Do these bytes end with a call? */
SIGNAL_SAFE_INLINE bool jvm_arch_is_call(const uint8_t bytes[JVM_CALL_BYTES])
{
    static const uint8_t sizes[] = { 2, 3, 6, 7 };

    if (bytes[JVM_CALL_BYTES - 5] == 0xe8)
        return true;
    for (uint32_t i = 0; i < sizeof sizes; i++) {
        const uint8_t *at = bytes + JVM_CALL_BYTES - sizes[i];

        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* Bytes of what may stand between the end of the frame and the return: the poll, vzeroupper. */
SIGNAL_SAFE_INLINE uint32_t jvm_arch_skip(const uint8_t *at)
{
    if (!memcmp(at, "\x49\x3b\xa7", 3) ||
        !memcmp(at, "\x4d\x8b\x97", 3)) /* cmp, mov: [r15 + 32 bits] */
        return 7;
    if (!memcmp(at, "\x49\x3b\x67", 3) || !memcmp(at, "\x4d\x8b\x57", 3)) /* the same, 8 bits */
        return 4;
    if (!memcmp(at, "\x0f\x87", 2) || !memcmp(at, "\x85\x05", 2)) /* ja; test [rip + 32 bits] */
        return 6;
    if (!memcmp(at, "\x41\x85\x02", 3) || !memcmp(at, "\x41\x85\x03", 3) || /* test [r10], [r11] */
        !memcmp(at, "\xc5\xf8\x77", 3))
        return 3;
    return 0;
}

/* The frame is gone, and a return follows. saved: words on the stack above the return address. */
SIGNAL_SAFE_INLINE bool jvm_arch_epilogue(const uint8_t bytes[JVM_EPILOGUE_BYTES], uint32_t *saved)
{
    uint32_t at = bytes[0] == 0x5d; /* pop rbp */

    *saved = at;
    for (uint32_t i = 0; i < 3 && at < JVM_EPILOGUE_BYTES - 8; i++)
        at += jvm_arch_skip(bytes + at);
    return bytes[at] == 0xc3;
}

#else

enum {
    JVM_BCP = 22,
    JVM_SENDER_SP = 19,
    JVM_METHOD = 12,
    JVM_RETURN = 30,
};

enum { JVM_RETURN_ON_STACK = 0 };

SIGNAL_SAFE_INLINE bool jvm_arch_is_call(const uint8_t bytes[JVM_CALL_BYTES])
{
    uint32_t code;

    memcpy(&code, bytes + JVM_CALL_BYTES - sizeof code, sizeof code);
    return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
}

SIGNAL_SAFE_INLINE bool jvm_arch_epilogue(const uint8_t bytes[JVM_EPILOGUE_BYTES], uint32_t *saved)
{
    uint32_t code;

    memcpy(&code, bytes, sizeof code);
    *saved = 0;
    return code == 0xd65f03c0; /* ret */
}

#endif

#endif

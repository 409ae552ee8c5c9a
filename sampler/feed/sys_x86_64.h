/*
 * sys_x86_64.h - how x86-64 enters the kernel. Mirrors sys_aarch64.h; included by sys.h only.
 */
#ifndef ISOSCOPE_SYS_X86_64_H
#define ISOSCOPE_SYS_X86_64_H

#include "signal_safe.h"

/* Six arguments always: loading an unused register costs nothing beside the call itself. */
SIGNAL_SAFE_INLINE long sys_call6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif

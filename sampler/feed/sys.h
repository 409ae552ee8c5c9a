/*
 * sys.h - system calls without libc: no errno, no cancellation point, no thread-local memory.
 *
 * The tick handler may interrupt libc anywhere, and must not go through its wrappers.
 *
 * Errors     The kernel's: 0 or more, or -errno.
 * Signals    Everything here is for the tick handler too.
 */
#ifndef ISOSCOPE_SYS_H
#define ISOSCOPE_SYS_H

#include "signal_safe.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#include "sys_x86_64.h"
#elif defined(__aarch64__)
#include "sys_aarch64.h"
#else
#error "isoscope's sampler knows x86-64 and aarch64"
#endif

#define SYS_ARG(x)               ((long)(x))
#define sys_call0(n)             sys_call6(n, 0, 0, 0, 0, 0, 0)
#define sys_call1(n, a)          sys_call6(n, SYS_ARG(a), 0, 0, 0, 0, 0)
#define sys_call2(n, a, b)       sys_call6(n, SYS_ARG(a), SYS_ARG(b), 0, 0, 0, 0)
#define sys_call3(n, a, b, c)    sys_call6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), 0, 0, 0)
#define sys_call4(n, a, b, c, d) sys_call6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), 0, 0)
#define sys_call5(n, a, b, c, d, e)                                                                \
    sys_call6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), 0)

/* op: FUTEX_WAIT or FUTEX_WAKE, with FUTEX_PRIVATE_FLAG where no other process looks. */
SIGNAL_SAFE_INLINE long sys_futex(_Atomic uint32_t *word, int op, uint32_t value,
                                  const void *timeout)
{
    return sys_call4(SYS_futex, word, op, value, timeout);
}

SIGNAL_SAFE_INLINE int sys_gettid(void)
{
    return (int)sys_call0(SYS_gettid);
}

#endif

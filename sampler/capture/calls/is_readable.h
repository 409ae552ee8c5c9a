/*
 * is_readable.h - whether the kernel would take a pointer that the program gave it: we look at nothing else behind it, for
 * a bad one is the program's to learn of, by EFAULT.
 *
 * Signals    SIGNAL_SAFE.
 * Source     rt_sigprocmask(2): it reads the set before it looks at how; by none that is known it changes nothing.
 */
#ifndef ISOSCOPE_IS_READABLE_H
#define ISOSCOPE_IS_READABLE_H

#include "../../feed/sys.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { READABLE_PAGE = 4096, READABLE_WORD = 8, READABLE_HOW_NONE = -1 };

static inline bool is_word_readable(uintptr_t at)
{
    return sys_call4(SYS_rt_sigprocmask, READABLE_HOW_NONE, at, NULL, READABLE_WORD) == -EINVAL;
}

/* bytes: a multiple of 8, and not 0. Costs a system call for each page. */
static inline bool is_readable(const void *pointer, size_t bytes)
{
    uintptr_t last = (uintptr_t)pointer + bytes - READABLE_WORD;

    for (uintptr_t at = (uintptr_t)pointer; at / READABLE_PAGE < last / READABLE_PAGE;
         at = (at / READABLE_PAGE + 1) * READABLE_PAGE)
        if (!is_word_readable(at))
            return false;
    return is_word_readable(last);
}

#endif

/*
 * break_calls.c - brk and sbrk: the program's break, where the program itself moves it.
 *
 * libc's malloc moves it by calls of its own, that nobody stands before; those of another allocator are left
 * out (next_told). A break goes down by any part of what it went up by. So a large piece is told in parts,
 * and as far as it goes down what was told of there is freed.
 *
 * Threads    As libc's: one at a time.
 */
#include "alloc_next.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

enum { PARTS_MAX = 64, PART_MIN = 128 * 1024 };

static int (*next_brk)(void *);
static void *(*next_sbrk)(intptr_t);

static void grown(char *from, size_t bytes, const void *caller)
{
    size_t part = bytes / PARTS_MAX > PART_MIN ? (bytes / PARTS_MAX + 15) & ~(size_t)15 : PART_MIN;

    for (size_t at = 0; at < bytes; at += part)
        next_told(from + at, bytes - at < part ? bytes - at : part, caller);
}

/* glibc says that it has gone below its begin, where it stays as it was: only a look tells. */
static void moved(char *from, const void *caller)
{
    char *to = next_sbrk(0);

    if (to > from)
        grown(from, (size_t)(to - from), caller);
    else if (to < from)
        isoscope_memory_gone_between(to, from);
}

ISOSCOPE_API void *sbrk(intptr_t bytes)
{
    char *before;

    if (!NEXT(sbrk)) {
        errno = ENOMEM;
        return (void *)-1;
    }
    before = next_sbrk(bytes);
    if (bytes && before != (char *)-1)
        moved(before, __builtin_return_address(0));
    return before;
}

ISOSCOPE_API int brk(void *to)
{
    char *before;
    int error;

    if (!NEXT(sbrk) || !NEXT(brk)) {
        errno = ENOMEM;
        return -1;
    }
    before = next_sbrk(0);
    error = next_brk(to);
    if (!error && before != (char *)-1)
        moved(before, __builtin_return_address(0));
    return error;
}

static __attribute__((constructor)) void find_all(void)
{
    NEXT(brk);
    NEXT(sbrk);
}

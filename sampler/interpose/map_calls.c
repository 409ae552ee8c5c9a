/*
 * map_calls.c - mmap and its kin: memory that a program takes from the kernel itself.
 *
 * What an allocator maps is told by its malloc, so its own calls are left out; so are files, and
 * addresses that are reserved only.
 */
#include "alloc_next.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *(*next_mmap)(void *, size_t, int, int, int, off_t);
static void *(*next_mmap64)(void *, size_t, int, int, int, off64_t);
static int (*next_munmap)(void *, size_t);
static void *(*next_mremap)(void *, size_t, size_t, int, ...);

static bool is_memory(int protection, int flags)
{
    return flags & MAP_ANONYMOUS && !(flags & MAP_NORESERVE) && protection & PROT_WRITE;
}

#define MAP_CALL(name, offset_type)                                                                \
    ISOSCOPE_API void *name(void *at, size_t bytes, int protection, int flags, int fd,             \
                            offset_type offset)                                                    \
    {                                                                                              \
        void *(*next)(void *, size_t, int, int, int, offset_type) = NEXT(name);                    \
        void *place = next ? next(at, bytes, protection, flags, fd, offset)                        \
                           : (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);  \
                                                                                                   \
        if (place != MAP_FAILED && is_memory(protection, flags))                                   \
            next_told(place, bytes, __builtin_return_address(0));                                  \
        return place;                                                                              \
    }

MAP_CALL(mmap, off_t)
MAP_CALL(mmap64, off64_t)

/* Of a part of it only, what was mapped first is what goes. */
ISOSCOPE_API int munmap(void *place, size_t bytes)
{
    int (*next)(void *, size_t) = NEXT(munmap);
    uint64_t mark = isoscope_freed(place);
    int error = next ? next(place, bytes) : (int)syscall(SYS_munmap, place, bytes);

    if (error)
        isoscope_memory_kept(place, mark);
    return error;
}

ISOSCOPE_API void *mremap(void *place, size_t bytes, size_t new_bytes, int flags, ...)
{
    void *(*next)(void *, size_t, size_t, int, ...) = NEXT(mremap);
    uint64_t mark = bytes ? isoscope_freed(place) : 0;
    void *fixed = NULL, *moved;
    va_list rest;

    va_start(rest, flags);
    if (flags & MREMAP_FIXED)
        fixed = va_arg(rest, void *);
    va_end(rest);
    moved = next ? next(place, bytes, new_bytes, flags, fixed)
                 : (void *)syscall(SYS_mremap, place, bytes, new_bytes, flags, fixed);
    if (moved == MAP_FAILED)
        isoscope_memory_kept(place, mark);
    else if (mark)
        next_told(moved, new_bytes, __builtin_return_address(0));
    return moved;
}

static __attribute__((constructor)) void find_all(void)
{
    NEXT(mmap);
    NEXT(mmap64);
    NEXT(munmap);
    NEXT(mremap);
    next_calls_settle();
}

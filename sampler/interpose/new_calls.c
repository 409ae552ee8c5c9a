/*
 * new_calls.c - operator new and delete, of programs whose allocator has its own (jemalloc,
 * tcmalloc, mimalloc).
 *
 * Others' call malloc, which is told already (alloc_calls.c): then the thread's countdown has moved.
 * An exception of theirs goes through ours, which have nothing to clean up.
 */
#include "alloc_next.h"

#include <stdlib.h>

/* There is no C++ runtime that could throw. */
static void *from_malloc(size_t bytes, size_t align)
{
    void *place = align ? aligned_alloc(align, (bytes + align - 1) & ~(align - 1))
                        : malloc(bytes ? bytes : 1);

    if (!place)
        abort();
    return place;
}

#define NEW_CALL(name, parameters, arguments, align)                                               \
    static void *(*next_##name)parameters;                                                         \
    void *name parameters;                                                                         \
    ISOSCOPE_API void *name parameters                                                             \
    {                                                                                              \
        void *(*next)parameters = NEXT(name);                                                      \
        int64_t left = isoscope_memory_thread.left;                                                \
        void *place;                                                                               \
                                                                                                   \
        if (__builtin_expect(!next, 0))                                                            \
            return from_malloc(bytes, align);                                                      \
        place = next arguments;                                                                    \
        if (isoscope_memory_thread.left == left)                                                   \
            isoscope_allocated(place, bytes);                                                      \
        return place;                                                                              \
    }

#define DELETE_CALL(name, parameters, arguments)                                                   \
    static void(*next_##name) parameters;                                                          \
    void name parameters;                                                                          \
    ISOSCOPE_API void name parameters                                                              \
    {                                                                                              \
        void(*next) parameters = NEXT(name);                                                       \
                                                                                                   \
        if (__builtin_expect(!next, 0)) {                                                          \
            free(place);                                                                           \
            return;                                                                                \
        }                                                                                          \
        isoscope_freed(place);                                                                     \
        next arguments;                                                                            \
    }

/* Itanium C++ ABI: Nw new, Na new[], Dl delete, Da delete[]; m: size_t. */
NEW_CALL(_Znwm, (size_t bytes), (bytes), 0)
NEW_CALL(_Znam, (size_t bytes), (bytes), 0)
NEW_CALL(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *nothrow), (bytes, nothrow), 0)
NEW_CALL(_ZnamRKSt9nothrow_t, (size_t bytes, const void *nothrow), (bytes, nothrow), 0)
NEW_CALL(_ZnwmSt11align_val_t, (size_t bytes, size_t align), (bytes, align), align)
NEW_CALL(_ZnamSt11align_val_t, (size_t bytes, size_t align), (bytes, align), align)
NEW_CALL(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t align, const void *nothrow),
         (bytes, align, nothrow), align)
NEW_CALL(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t align, const void *nothrow),
         (bytes, align, nothrow), align)
DELETE_CALL(_ZdlPv, (void *place), (place))
DELETE_CALL(_ZdaPv, (void *place), (place))
DELETE_CALL(_ZdlPvm, (void *place, size_t bytes), (place, bytes))
DELETE_CALL(_ZdaPvm, (void *place, size_t bytes), (place, bytes))
DELETE_CALL(_ZdlPvRKSt9nothrow_t, (void *place, const void *nothrow), (place, nothrow))
DELETE_CALL(_ZdaPvRKSt9nothrow_t, (void *place, const void *nothrow), (place, nothrow))
DELETE_CALL(_ZdlPvSt11align_val_t, (void *place, size_t align), (place, align))
DELETE_CALL(_ZdaPvSt11align_val_t, (void *place, size_t align), (place, align))
DELETE_CALL(_ZdlPvmSt11align_val_t, (void *place, size_t bytes, size_t align),
            (place, bytes, align))
DELETE_CALL(_ZdaPvmSt11align_val_t, (void *place, size_t bytes, size_t align),
            (place, bytes, align))

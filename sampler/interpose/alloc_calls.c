/*
 * alloc_calls.c - malloc and its kin: what the program's allocator does, told to the sampler.
 */
#include "alloc_next.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A pair of malloc and free is looked at most: until the next ones are found, these find them. */
SELDOM void *malloc_first(size_t bytes);
SELDOM void free_first(void *place);

static void *(*next_malloc)(size_t) = malloc_first;
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_reallocarray)(void *, size_t, size_t);
static void (*next_free)(void *) = free_first;
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_valloc)(size_t);
static void *(*next_pvalloc)(size_t);

/* The sampler's, in the place of its own: it is looked at at each free. */
static uint8_t filter[ISOSCOPE_MEMORY_FILTER] __attribute__((aligned(ISOSCOPE_MEMORY_FILTER)));
ISOSCOPE_API extern uint8_t isoscope_alloc_filter[ISOSCOPE_MEMORY_FILTER]
    __attribute__((alias("filter")));

static void *early(size_t bytes, size_t align)
{
    void *place = early_take(bytes ? bytes : 1, align);

    if (!place)
        errno = ENOMEM;
    return place;
}

SELDOM void *malloc_sampled(size_t bytes)
{
    void *place = next_malloc(bytes);

    if (!early_has(place))
        isoscope_memory_sample(&isoscope_memory_thread, place, bytes);
    return place;
}

void *malloc_first(size_t bytes)
{
    void *(*found)(size_t) = (void *(*)(size_t))next_call_find("malloc");

    if (!found)
        return early(bytes, 1);
    __atomic_store_n(&next_malloc, found, __ATOMIC_RELAXED);
    next_calls_settle();
    return found(bytes);
}

ISOSCOPE_API void *malloc(size_t bytes)
{
    return isoscope_memory_is_due(bytes) ? malloc_sampled(bytes) : next_malloc(bytes);
}

ISOSCOPE_API void *calloc(size_t count, size_t bytes)
{
    void *(*next)(size_t, size_t) = NEXT(calloc);
    size_t whole;
    void *place;

    if (__builtin_expect(!next, 0))
        return __builtin_mul_overflow(count, bytes, &whole) ? NULL : early(whole, 1);
    if (__builtin_mul_overflow(count, bytes, &whole) || !isoscope_memory_is_due(whole))
        return next(count, bytes);
    place = next(count, bytes);
    isoscope_memory_sample(&isoscope_memory_thread, place, whole);
    return place;
}

void free_first(void *place)
{
    void (*found)(void *) = (void (*)(void *))next_call_find("free");

    if (!found)
        return;
    __atomic_store_n(&next_free, found, __ATOMIC_RELAXED);
    found(place);
}

SELDOM void free_sampled(void *place)
{
    isoscope_memory_gone(place);
    next_free(place);
}

ISOSCOPE_API void free(void *place)
{
    if (__builtin_expect(early_has(place), 0))
        return;
    if (isoscope_memory_may_be(filter, place))
        free_sampled(place);
    else
        next_free(place);
}

/* What was given early moves to the allocator. */
static void *move_early(void *place, size_t bytes)
{
    size_t had = early_bytes(place);
    void *moved = malloc(bytes);

    if (moved)
        memcpy(moved, place, had < bytes ? had : bytes);
    return moved;
}

/* Grown or shrunk it is freed, and another one. */
static void *resized(void *before, uint64_t mark, void *place, size_t bytes)
{
    if (place)
        isoscope_allocated(place, bytes);
    else if (bytes)
        isoscope_memory_kept(before, mark);
    return place;
}

ISOSCOPE_API void *realloc(void *place, size_t bytes)
{
    void *(*next)(void *, size_t) = NEXT(realloc);
    uint64_t mark;

    if (__builtin_expect(!next || early_has(place), 0))
        return place ? move_early(place, bytes) : malloc(bytes);
    mark = isoscope_freed(place);
    return resized(place, mark, next(place, bytes), bytes);
}

ISOSCOPE_API void *reallocarray(void *place, size_t count, size_t bytes)
{
    void *(*next)(void *, size_t, size_t) = NEXT(reallocarray);
    size_t whole;
    uint64_t mark;

    if (__builtin_mul_overflow(count, bytes, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!next || early_has(place))
        return realloc(place, whole);
    mark = isoscope_freed(place);
    return resized(place, mark, next(place, count, bytes), whole);
}

ISOSCOPE_API int posix_memalign(void **out, size_t align, size_t bytes)
{
    int (*next)(void **, size_t, size_t) = NEXT(posix_memalign);
    int error;

    if (__builtin_expect(!next, 0)) {
        *out = early_take(bytes, align);
        return *out ? 0 : ENOMEM;
    }
    error = next(out, align, bytes);
    if (!error)
        isoscope_allocated(*out, bytes);
    return error;
}

#define ALIGNED_CALL(name)                                                                         \
    void *name(size_t align, size_t bytes);                                                        \
    ISOSCOPE_API void *name(size_t align, size_t bytes)                                            \
    {                                                                                              \
        void *(*next)(size_t, size_t) = NEXT(name);                                                \
        void *place;                                                                               \
                                                                                                   \
        if (__builtin_expect(!next, 0))                                                            \
            return early(bytes, align);                                                            \
        place = next(align, bytes);                                                                \
        isoscope_allocated(place, bytes);                                                          \
        return place;                                                                              \
    }

ALIGNED_CALL(aligned_alloc)
ALIGNED_CALL(memalign)

#define PAGES_CALL(name)                                                                           \
    void *name(size_t bytes);                                                                      \
    ISOSCOPE_API void *name(size_t bytes)                                                          \
    {                                                                                              \
        void *(*next)(size_t) = NEXT(name);                                                        \
        void *place = next ? next(bytes) : NULL;                                                   \
                                                                                                   \
        isoscope_allocated(place, bytes);                                                          \
        return place;                                                                              \
    }

PAGES_CALL(valloc)
PAGES_CALL(pvalloc)

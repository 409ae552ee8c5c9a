/*
 * memory.h - where a program's memory comes from: allocations are sampled by their bytes.
 *
 * `isoscope run --alloc -- PROGRAM` does this for malloc and its kin, operator new, and mmap. A
 * program with memory of its own making (an arena, a pool) says so itself:
 *
 *     void *block = pool_take(bytes);
 *     isoscope_allocated(block, bytes);
 *     ...
 *     isoscope_freed(block);           before anybody else can get the address
 *     pool_give(block);
 *
 * One allocation in so many bytes is sampled, on average (Poisson): its stack is taken, and until it
 * is freed its address is known. The others cost a subtraction. So does each while nothing is sampled;
 * a change comes to a thread with its next mebibyte.
 *
 * Units      bytes: as asked for, without what an allocator adds.
 * Threads    Any with thread-local memory. An address is told by whoever owns the memory just then.
 * Signals    Signal-safe.
 * Errors     None. What is sampled and cannot be kept is counted, and shown.
 */
#ifndef ISOSCOPE_MEMORY_H
#define ISOSCOPE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ISOSCOPE_API
#define ISOSCOPE_API __attribute__((visibility("default")))
#endif

/* Two filters, one behind the other. The near one is small: what is looked at for each free stays in the
 * processor's cache (64 KiB did not: 25 ns a free of a C++ program's). Of the far one's places an address
 * shares fewer with a sampled one. Together they are whole pages, of each size. */
#define ISOSCOPE_MEMORY_FILTER 65536
#define ISOSCOPE_MEMORY_NEAR   16384
#define ISOSCOPE_MEMORY_FAR    (ISOSCOPE_MEMORY_FILTER - ISOSCOPE_MEMORY_NEAR)

/* isoscope's: the near filter, and then the far one. NULL: nothing ever was sampled. */
ISOSCOPE_API extern const uint8_t *isoscope_memory_filter;

/* A thread's, isoscope's; zeros at first. */
struct isoscope_memory_thread {
    int64_t left; /* bytes until isoscope_memory_sample is called */
    int64_t rest; /* bytes until the next one is sampled, beyond these */
    uint32_t epoch, busy;
    uint64_t mean_bytes, random;
};

ISOSCOPE_API void isoscope_memory_sample(struct isoscope_memory_thread *thread, const void *address,
                                         size_t bytes);
/* Returns a mark, for isoscope_memory_kept; 0: the address is not a sampled one. */
ISOSCOPE_API uint64_t isoscope_memory_gone(const void *address);
/* All that was told of [from, to) is freed: an arena goes at once. Looks at each sampled allocation
 * that lives, some 50 us. */
ISOSCOPE_API void isoscope_memory_gone_between(const void *from, const void *to);
/* It was not freed after all: realloc failed. */
ISOSCOPE_API void isoscope_memory_kept(const void *address, uint64_t mark);

/* Each file has one of its own, unless they share one that they define. */
#ifdef ISOSCOPE_MEMORY_SHARED
extern __thread struct isoscope_memory_thread isoscope_memory_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
static __thread struct isoscope_memory_thread isoscope_memory_thread
    __attribute__((tls_model("initial-exec"), unused));
#endif

/* Of the next allocation isoscope_memory_sample is to be told, once it is there. */
static inline int isoscope_memory_is_due(size_t bytes)
{
    return __builtin_expect((isoscope_memory_thread.left -= (int64_t)bytes) < 0, 0);
}

/* Allocators give out multiples of 16. */
static inline uint64_t isoscope_memory_mixed(const void *address)
{
    return ((uint64_t)(uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline size_t isoscope_memory_near(uint64_t mixed)
{
    return mixed >> 50;
}

static inline size_t isoscope_memory_far(uint64_t mixed)
{
    return ISOSCOPE_MEMORY_NEAR + (mixed >> 32 & 0xffff) * ISOSCOPE_MEMORY_FAR / 65536;
}

/* 0: the address is not a sampled one. */
static inline int isoscope_memory_may_be(const uint8_t *filter, const void *address)
{
    uint64_t mixed = isoscope_memory_mixed(address);

    return __builtin_expect(filter[isoscope_memory_near(mixed)], 0) &&
           filter[isoscope_memory_far(mixed)];
}

/* address: NULL is fine, and no allocation. */
static inline void isoscope_allocated(const void *address, size_t bytes)
{
    if (isoscope_memory_is_due(bytes))
        isoscope_memory_sample(&isoscope_memory_thread, address, bytes);
}

/* Before it is. Returns what isoscope_memory_gone does. */
static inline uint64_t isoscope_freed(const void *address)
{
    const uint8_t *filter = isoscope_memory_filter;

    return filter && isoscope_memory_may_be(filter, address) ? isoscope_memory_gone(address) : 0;
}

#ifdef __cplusplus
}
#endif

#endif

/*
 * next.h - the functions that ours stand before.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_NEXT_H
#define ISOSCOPE_NEXT_H

/* What is seldom: apart, so that what is not saves no register. */
#define SELDOM static __attribute__((noinline, cold))

/* libisoscope.so's: what the program called before the sampler was loaded into it; NULL: it was there first. */
void *isoscope_next_call(const char *name);
/* Each library's own. */
void *next_call_find(const char *name);

/* The pointer next_NAME of that type, found when it is first used. */
#define NEXT(name)                                                                                 \
    ({                                                                                             \
        __typeof__(next_##name) found = __atomic_load_n(&next_##name, __ATOMIC_RELAXED);           \
        if (__builtin_expect(!found, 0)) {                                                         \
            found = (__typeof__(found))next_call_find(#name);                                      \
            __atomic_store_n(&next_##name, found, __ATOMIC_RELAXED);                               \
        }                                                                                          \
        found;                                                                                     \
    })

#endif

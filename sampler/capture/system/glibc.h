/*
 * glibc.h - what glibc alone has.
 *
 * Weak, all of it: children with another libc (musl's) are preloaded too, and start as if we were
 * not there. glibc_is_here tells before any of it is used.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_GLIBC_H
#define ISOSCOPE_GLIBC_H

#include <link.h>
#include <stdbool.h>

#pragma weak _r_debug
/* The loader's: where the first frame of the main thread begins. */
extern void *__libc_stack_end __attribute__((weak));
/* Whether there is one thread, as far as libc knows (glibc 2.32). */
extern char __libc_single_threaded __attribute__((weak));
/* What pthread_atfork calls; object: the calling library's __dso_handle. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void *object) __attribute__((weak));

static inline bool glibc_is_here(void)
{
    return &_r_debug && &__libc_stack_end && __register_atfork;
}

#endif

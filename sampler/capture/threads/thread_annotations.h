/*
 * thread_annotations.h - what a thread tells of itself, in its own thread-local memory.
 *
 *   isoscope_tag_push (cooperate.c) -> thread_annotations -> handler, in the same thread
 *
 * The handler finds it by the struct sampled_thread, never by the thread pointer: a thread made
 * with a raw clone may have another thread's.
 *
 * Threads    All fields: the thread itself, and the handler that interrupts it. So a write needs no
 *            more than its place in the order of instructions.
 */
#ifndef ISOSCOPE_THREAD_ANNOTATIONS_H
#define ISOSCOPE_THREAD_ANNOTATIONS_H

#include "../../feed/signal_safe.h"

#include <stddef.h>
#include <stdint.h>

enum { OWN_TAGS_MAX = 32 };

struct thread_annotations {
    uint32_t epoch;          /* of the sampler that knows this memory; cooperate.c */
    int32_t tid;             /* whose it is; 0: not said yet */
    volatile uint32_t depth; /* tags pushed; those beyond OWN_TAGS_MAX are counted only */
    char name[16];           /* "": none given */
    volatile uint64_t samples;
    const char *volatile tags[OWN_TAGS_MAX];
};

/* The tag in force; NULL: none. */
SIGNAL_SAFE_INLINE const char *thread_annotations_tag(const struct thread_annotations *own)
{
    uint32_t depth = own->depth;

    if (!depth)
        return NULL;
    return own->tags[(depth < OWN_TAGS_MAX ? depth : OWN_TAGS_MAX) - 1];
}

#endif

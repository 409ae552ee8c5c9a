/*
 * loop_thread.h - the calling thread's learned loop: which of its waits are the loop's, and what they mark.
 *
 *   calls/ (epoll_wait, poll, select and their kin) -> here -> loop_feed.h
 *
 * A thread that waits again and again at one place is a loop, and that place is its wait. A place is a call in
 * the code (site) at a depth of the stack (frame). The loop's wait is the outermost that comes again: one deeper
 * in the stack is a part of the dispatch, such as a request to another server that a callback waits for. The same
 * call deeper in the stack is a nested loop (a dialog's), and idle like the loop itself.
 *
 * Nothing here reads a clock or enters the kernel, but for the moment when a loop is learned or ends.
 *
 * Threads    The thread itself. One that was made by a raw clone, and shares the memory, mixes its marks up with
 *            its maker's; nothing worse.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_LOOP_THREAD_H
#define ISOSCOPE_LOOP_THREAD_H

#include "loop_feed.h"

enum {
    LOOP_LEARNED_BY_EPOLL = 3, /* waits at one place; io_uring's too */
    LOOP_LEARNED_BY_POLL = 8,  /* and select: not only loops call these */
    /* At one place deeper in the stack than the loop's, which did not come in between: the loop was left, and
     * another one runs. A request in a callback seldom waits so often for more than one descriptor. */
    LOOP_LEFT_BY = 16,
    LOOP_DESCRIPTORS_MIN = 2, /* poll and select for less teach nothing */
};

struct isoscope_loop;

struct loop_wait {
    uintptr_t site, frame;
    enum feed_loop_kind kind;
    bool teaches; /* false: it is a loop's only if the place is known as one's */
    /* What it waits for: a set that the kernel keeps (epoll's); 0: descriptors that are given with the call. Not looked
     * at where the loop comes back to its wait. */
    uint32_t set;
};

struct loop_seen {
    uintptr_t site, frame;
    uint32_t count;
};

struct loop_thread {
    struct loop_place place;
    uintptr_t site, frame; /* of the loop's wait */
    uint32_t set;
    bool learned;
    struct loop_seen outer, deeper; /* places that may become it */
    uint32_t skipped;
    /* One that the thread has by loop.h: it is known by these alone. NULL: it has none. */
    struct isoscope_loop *registered;
    int32_t tid; /* its owner: the thread, as it was then */
};

extern __thread struct loop_thread loop_thread;

/* Not so plain: the thread has no loop in this feed, or waits elsewhere. False: the wait is none of its loop's. */
SIGNAL_SAFE bool loop_thread_consider(const struct loop_wait *wait);
/* The thread's learned loop ends, and what it has seen is forgotten. */
SIGNAL_SAFE void loop_thread_unlearn(void);
/* The thread has registered that loop: it is known by such alone. */
void loop_thread_has(struct isoscope_loop *loop);
/* In a forked child: the loop is its parent's. */
SIGNAL_SAFE void loop_thread_forget(void);

/* The plain case: the loop comes back to its wait. */
SIGNAL_SAFE_INLINE bool loop_thread_is_at(const struct loop_wait *wait)
{
    const struct loop_thread *thread = &loop_thread;

    return __builtin_expect(loop_place_is_live(&thread->place) && wait->site == thread->site &&
                                wait->frame == thread->frame &&
                                loop_place_watch(&thread->place) != FEED_WATCH_NONE,
                            1);
}

/* Before the wait, when it is the loop's. */
SIGNAL_SAFE_INLINE void loop_thread_enter_wait(void)
{
    loop_thread.deeper.count = 0;
    loop_place_end(&loop_thread.place);
}

/* What only io_uring's loops do, and not while they stand still. */
SIGNAL_SAFE_INLINE void loop_thread_goes_on(void)
{
    if (loop_place_is_live(&loop_thread.place))
        atomic_fetch_add_explicit(&loop_thread.place.entry->progress, 1, memory_order_relaxed);
}

/* Behind it. Another feed may have come meanwhile. */
SIGNAL_SAFE_INLINE void loop_thread_leave_wait(void)
{
    struct loop_thread *thread = &loop_thread;

    if (loop_place_is_live(&thread->place))
        loop_place_begin(&thread->place);
}

#endif

/*
 * loop.h - loops that a program runs, so that isoscope says when one of them is late, for how long, why, and
 * which function did it. A part of isoscope.h.
 *
 * Ordinary event loops need none of this: under isoscope a thread that waits again and again in epoll_wait,
 * poll, select and their kin is known as a loop. This is for loops that wait elsewhere (a condition variable, a
 * frame's turn), and for better names and limits.
 *
 *     struct isoscope_loop *loop = isoscope_loop_register("render", NULL);
 *
 *     for (;;) {
 *         struct job *job = next_job(queue);          waiting is outside of begin and end
 *         isoscope_loop_begin(loop);
 *         run(job);
 *         isoscope_loop_end(loop);
 *     }
 *
 * What stands between begin and end is one dispatch. One that takes longer than the loop's stall limit is a
 * stall. No call here reads a clock, takes a lock or enters the kernel, but for: register, unregister, set_ping;
 * the first begin after a second in which all loops rested, which wakes the service; the end of a stall and a few
 * begins in a second, which read the clock.
 *
 * Threads    begin, end, idle_enter, idle_leave and progress: the thread that registered the loop. The rest: any.
 * Signals    begin, end, idle_enter, idle_leave and progress are signal-safe; the rest is not.
 * Errors     Where no sampler runs, loops cannot be had (NULL), and all calls do nothing with a NULL loop.
 */
#ifndef ISOSCOPE_LOOP_H
#define ISOSCOPE_LOOP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ISOSCOPE_API
#define ISOSCOPE_API __attribute__((visibility("default")))
#endif

struct isoscope_loop;

/* From when on a dispatch is what, in milliseconds; 0: what the service has for all loops (50, 250, 2,000 and
 * 5,000 at first). They grow in this order. */
struct isoscope_loop_options {
    uint32_t struct_size; /* sizeof(struct isoscope_loop_options) */
    uint32_t jank_ms;     /* counted */
    uint32_t stall_ms;    /* told, with its culprit */
    uint32_t hang_ms, dead_ms;
};

/* A loop of the calling thread. name: copied, 255 bytes of it; NULL: the thread's. options may be NULL. NULL: no
 * sampler runs, or there are 255 loops. A thread that has registered loops is known by these alone, not by its
 * waits. A forked child registers its own. */
ISOSCOPE_API struct isoscope_loop *
isoscope_loop_register(const char *name, const struct isoscope_loop_options *options);
/* It ends. So it does with its thread. */
ISOSCOPE_API void isoscope_loop_unregister(struct isoscope_loop *loop);

/* A dispatch begins, and ends. They nest: the outermost pair is the dispatch. An end too many does nothing. */
ISOSCOPE_API void isoscope_loop_begin(struct isoscope_loop *loop);
ISOSCOPE_API void isoscope_loop_end(struct isoscope_loop *loop);
/* Inside of a dispatch the loop waits for what comes next, as a dialog's own loop does: that is no stall, and
 * what comes behind is a new dispatch. */
ISOSCOPE_API void isoscope_loop_idle_enter(struct isoscope_loop *loop);
ISOSCOPE_API void isoscope_loop_idle_leave(struct isoscope_loop *loop);
/* A long job goes on as it should: limits count from here. */
ISOSCOPE_API void isoscope_loop_progress(struct isoscope_loop *loop);

/*
 * For a loop that cannot tell begin and end, but takes jobs from other threads: post(run, argument, context) must
 * have the loop's thread call run(argument) soon, and return 0 if it will. It is called on a thread of
 * isoscope's ("iso-ping", made by the first call of this), when the service asks: five times in a stall limit
 * while the loop's thread has run since, never while it rests, and at most one ping at a time. 0 or a negative
 * isoscope_error. post NULL: no more pings.
 */
ISOSCOPE_API int isoscope_loop_set_ping(struct isoscope_loop *loop,
                                        int (*post)(void (*run)(void *argument), void *argument,
                                                    void *context),
                                        void *context);

#ifdef __cplusplus
}
#endif
#endif

/*
 * loop_calls.c - isoscope/loop.h, but for the marks (loops/loops.c): loops come and go.
 */
#include "loop_calls.h"

#include "cooperate.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../forked.h"
#include "../loops/loop_ping.h"
#include "../loops/loop_thread.h"
#include "../sampler_state.h"

#include <stddef.h>

/* Those that are given grow. */
static bool are_limits(const struct isoscope_loop_options *options)
{
    const uint32_t limits[] = { options->jank_ms, options->stall_ms, options->hang_ms,
                                options->dead_ms };
    uint32_t before = 0;

    if (options->struct_size < sizeof *options)
        return false;
    for (int i = 0; i < 4; i++) {
        if (limits[i] && limits[i] < before)
            return false;
        before = limits[i] ? limits[i] : before;
    }
    return true;
}

struct isoscope_loop *isoscope_loop_register(const char *name,
                                             const struct isoscope_loop_options *options)
{
    struct isoscope_loop *loop;

    forked_begin();
    if (!sampler_running() || (options && !are_limits(options)))
        return NULL;
    cooperate_know_thread();
    loop = loop_table_add(name, options);
    if (loop)
        loop_thread_has(loop);
    return loop;
}

void isoscope_loop_unregister(struct isoscope_loop *loop)
{
    if (!loop)
        return;
    loop_ping_set(loop, NULL, NULL);
    loop_table_end(loop, LOOP_FREE);
}

int isoscope_loop_set_ping(struct isoscope_loop *loop,
                           int (*post)(void (*run)(void *argument), void *argument, void *context),
                           void *context)
{
    if (!loop || !sampler_running())
        return -ISOSCOPE_NO_SERVICE;
    return loop_ping_set(loop, post, context);
}

/* ---- for preload.c ---- */

void loop_calls_thread_ends(void)
{
    loop_thread_unlearn();
    if (loop_thread.registered)
        loop_table_end_all(loop_thread.tid);
    loop_thread_forget();
}

/* Not by a child of vfork, which is about to lock itself in: the loops are its parent's. */
void loop_calls_stop(void)
{
    if (!sampler_has_ticks())
        return;
    loop_ping_stop();
    loop_table_end_all(0);
}

void loop_calls_fork_child(void)
{
    loop_ping_forget_parent();
    loop_table_forget_parent();
    loop_thread_forget();
}

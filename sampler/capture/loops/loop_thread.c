#include "loop_thread.h"

#include "loop_table.h"

#include "../sampler_state.h"

#include <string.h>

/* Waits between two looks at what the service wants, of a thread that has no loop. */
enum { LOOK_EACH = 64, RETRY_EACH = 1024 };

__thread struct loop_thread loop_thread;

static SIGNAL_SAFE uint32_t watch_now(struct loop_thread *thread)
{
    if (thread->skipped++ % LOOK_EACH == 0)
        loop_feed_follow();
    return atomic_load_explicit(&sampler.watch_loops, memory_order_relaxed);
}

static SIGNAL_SAFE void forget_seen(struct loop_thread *thread)
{
    thread->outer.count = 0;
    thread->deeper.count = 0;
}

void loop_thread_unlearn(void)
{
    loop_feed_end(&loop_thread.place);
    loop_thread.learned = false;
    forget_seen(&loop_thread);
}

void loop_thread_has(struct isoscope_loop *loop)
{
    loop_thread_unlearn();
    loop_thread.registered = loop;
    loop_thread.tid = loop->tid;
}

void loop_thread_forget(void)
{
    memset(&loop_thread, 0, sizeof loop_thread);
}

/* How often the place has been seen now. */
static SIGNAL_SAFE uint32_t see(struct loop_seen *seen, const struct loop_wait *wait)
{
    if (!seen->count || seen->site != wait->site || seen->frame != wait->frame)
        *seen = (struct loop_seen){ wait->site, wait->frame, 0 };
    return ++seen->count;
}

static SIGNAL_SAFE uint32_t enough(const struct loop_wait *wait)
{
    return wait->kind == FEED_LOOP_POLL || wait->kind == FEED_LOOP_SELECT ? LOOP_LEARNED_BY_POLL
                                                                          : LOOP_LEARNED_BY_EPOLL;
}

/* Deeper places are counted apart: those of a callback do not hide the loop's, and a wait that came once, when
 * the program began, does not hide a loop. */
static SIGNAL_SAFE bool has_learned(struct loop_thread *thread, const struct loop_wait *wait)
{
    struct loop_seen *outer = &thread->outer;

    if (outer->count && wait->frame < outer->frame)
        return see(&thread->deeper, wait) >= enough(wait);
    thread->deeper.count = 0;
    return see(outer, wait) >= enough(wait);
}

static SIGNAL_SAFE void take_place(struct loop_thread *thread, const struct loop_wait *wait)
{
    thread->site = wait->site;
    thread->frame = wait->frame;
    thread->set = wait->set;
    thread->learned = true;
    forget_seen(thread);
}

static SIGNAL_SAFE bool claim(struct loop_thread *thread, const struct loop_wait *wait)
{
    struct feed_loop_start start = { .kind = wait->kind, .tid = sys_gettid() };

    if (loop_place_is_refused(&thread->place) && thread->skipped % RETRY_EACH)
        return false;
    if (!loop_feed_claim(&thread->place, &start, NULL)) {
        thread->learned = false;
        forget_seen(thread);
    }
    return thread->learned;
}

/* The thread has no loop, or has one and another feed came. */
static SIGNAL_SAFE bool consider_first(struct loop_thread *thread, const struct loop_wait *wait)
{
    uint32_t watch = watch_now(thread);

    if (watch == FEED_WATCH_NONE)
        return false;
    if (!thread->learned) {
        if (watch != FEED_WATCH_ALL && (!wait->teaches || !has_learned(thread, wait)))
            return false;
        take_place(thread, wait);
    }
    return claim(thread, wait);
}

/* The loop's own wait, from another frame: a dialog's. Another set is another loop, as a library has one for a request
 * that it waits for (node's execSync): that is inside of the dispatch. */
static SIGNAL_SAFE bool is_same_call(const struct loop_thread *thread, const struct loop_wait *wait)
{
    return wait->site == thread->site && wait->set == thread->set;
}

/* Elsewhere than where it waits usually. One that is not deeper is outside of any dispatch. */
static SIGNAL_SAFE bool consider_other(struct loop_thread *thread, const struct loop_wait *wait)
{
    if (wait->frame >= thread->frame || is_same_call(thread, wait)) {
        if (wait->frame > thread->frame &&
            (is_same_call(thread, wait) ||
             (wait->teaches && see(&thread->outer, wait) >= enough(wait))))
            take_place(thread, wait);
        return true;
    }
    if (!wait->teaches || see(&thread->deeper, wait) < LOOP_LEFT_BY)
        return false;
    take_place(thread, wait);
    return true;
}

/* Another thread may have ended the one that it knows of. */
static SIGNAL_SAFE bool has_registered(struct loop_thread *thread)
{
    if (!loop_table_is_live(thread->registered) || thread->registered->tid != thread->tid)
        thread->registered = loop_table_next(0, thread->tid);
    return thread->registered != NULL;
}

bool loop_thread_consider(const struct loop_wait *wait)
{
    struct loop_thread *thread = &loop_thread;

    if (thread->registered && has_registered(thread))
        return false;
    if (!loop_place_is_live(&thread->place))
        return consider_first(thread, wait);
    if (loop_place_watch(&thread->place) == FEED_WATCH_NONE) {
        loop_thread_unlearn();
        return false;
    }
    return consider_other(thread, wait);
}

#include "punctual.h"

#include "../../feed/sys.h"
#include "thread.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where the kernel (6.12 and later) lets threads ask for short slices, ours is then preferred when
 * it wakes, and gets no more in sum. */
static void ask_for_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attr = { 0 };

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) < 0 || attr.policy != 0)
        return;
    attr.runtime_ns = 100 * 1000; /* the least there is */
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

static int64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Not by a condition variable: that takes its lock for contended each time, and wakes nobody. */
static void rest_until(struct punctual *thread, int64_t until_ns, uint32_t seen)
{
    int64_t wait_ns = until_ns - clock_ns();
    struct timespec timeout = { wait_ns / 1000000000, wait_ns % 1000000000 };

    if (wait_ns > 0)
        sys_futex(&thread->wake, FUTEX_WAIT_PRIVATE, seen, until_ns == INT64_MAX ? NULL : &timeout);
}

static void *run(void *argument)
{
    struct punctual *thread = argument;

    pthread_setname_np(pthread_self(), thread->name);
    prctl(PR_SET_TIMERSLACK, 1); /* ns: turns are short */
    ask_for_short_slices();
    for (;;) {
        uint32_t seen = atomic_load_explicit(&thread->wake, memory_order_acquire);

        if (atomic_load(&thread->stopping))
            return NULL;
        rest_until(thread, thread->turn(thread->context), seen);
    }
}

int punctual_start(struct punctual *thread, const char *name, int64_t (*turn)(void *context),
                   void *context)
{
    int error;

    thread->name = name;
    thread->turn = turn;
    thread->context = context;
    error = thread_start(&thread->thread, run, thread);
    thread->started = !error;
    return error;
}

void punctual_stop(struct punctual *thread)
{
    if (!thread->started)
        return;
    thread->started = false;
    atomic_store(&thread->stopping, true);
    punctual_wake(thread);
    pthread_join(thread->thread, NULL);
}

void punctual_wake(struct punctual *thread)
{
    atomic_fetch_add_explicit(&thread->wake, 1, memory_order_release);
    sys_futex(&thread->wake, FUTEX_WAKE_PRIVATE, 1, NULL);
}

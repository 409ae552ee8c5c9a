#include "deaf.h"

#include "tick_signal.h"

#include "../system/task_file.h"

#include <signal.h>

enum {
    LOOKS_A_TURN = 64,
    STATUS_BYTES = 4096,
    TICKS_MISSED = 4,              /* so many in a row come to nobody who merely waits for one */
    CPU_MIN_NS = 20 * 1000 * 1000, /* CPU-time timers tick that seldom */
};

static uint32_t look_next; /* slot */

uint64_t deaf_blocked(const char *text)
{
    static const char label[] = "\nSigBlk:\t";
    const char *at = strstr(text, label);
    uint64_t mask = 0;

    if (!at)
        return 0;
    for (at += sizeof label - 1;; at++) {
        if (*at >= '0' && *at <= '9')
            mask = mask << 4 | (uint64_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            mask = mask << 4 | (uint64_t)(*at - 'a' + 10);
        else
            return mask;
    }
}

static bool is_deaf(struct threads *threads, const struct watch *watch)
{
    static char text[STATUS_BYTES]; /* not for the sampler's small stack */
    bool traps = watch->timer.kind == FEED_TIMER_PERF_TRAP && !threads->timers_rest;
    int number = traps ? SIGTRAP : threads->signal_number;
    long bytes = task_file_read(watch->tid, "/status", text, sizeof text - 1);
    uint64_t blocked;

    text[bytes > 0 ? bytes : 0] = 0;
    blocked = deaf_blocked(text);
    if (!number || !tick_signal_is_in(blocked, number))
        return false;
    threads->blocked = blocked;
    return true;
}

/* So much CPU time without a sample is odd. */
static uint64_t patience_ns(const struct threads *threads)
{
    uint64_t ns = threads->period_us * UINT64_C(1000) * TICKS_MISSED;

    return ns > CPU_MIN_NS ? ns : CPU_MIN_NS;
}

static void set_deaf(struct threads *threads, struct watch *watch, bool deaf)
{
    _Atomic uint32_t *count = &threads->segment->header->status.threads_deaf;

    if (deaf && !watch->deaf)
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    else if (!deaf && watch->deaf)
        atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
    watch->deaf = deaf;
}

static void look_at(struct threads *threads, uint32_t slot)
{
    struct watch *watch = &threads->watches[slot];
    uint64_t head =
        atomic_load_explicit(&threads->segment->threads[slot].head, memory_order_relaxed);
    uint64_t cpu_ns = timer_thread_cpu_ns(watch->tid);

    if (head != watch->head_seen || !watch->cpu_seen_ns) {
        watch->head_seen = head;
        watch->cpu_seen_ns = cpu_ns;
        set_deaf(threads, watch, false);
    } else if (cpu_ns >= watch->cpu_seen_ns + patience_ns(threads)) {
        watch->cpu_seen_ns = cpu_ns;
        set_deaf(threads, watch, is_deaf(threads, watch));
    }
}

void deaf_look(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    if (!threads->period_us)
        return;
    for (uint32_t turn = 0; turn < LOOKS_A_TURN && turn < used; turn++) {
        uint32_t slot = look_next++ % used;

        if (atomic_load_explicit(&threads->watches[slot].state, memory_order_acquire) ==
            WATCH_ARMED)
            look_at(threads, slot);
    }
}

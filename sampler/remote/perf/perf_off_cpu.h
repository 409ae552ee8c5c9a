/*
 * perf_off_cpu.h - why, where and for how long threads have no processor, and who wakes them.
 *
 *   perf_events.h: SWITCHES, WAKEUPS -> perf_off_cpu_drain -> target_left, target_woken, target_back
 *
 * When a thread leaves and comes back is known of each time. Stacks are copied some thousand times in a second: where threads switch
 * oftener, one time stands for several.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  perf_off_cpu_free.
 * Threads    One at a time.
 * Errors     An errno, as perf_events.h.
 */
#ifndef ISOSCOPE_PERF_OFF_CPU_H
#define ISOSCOPE_PERF_OFF_CPU_H

#include "../refusal.h"
#include "../target/target.h"

struct perf_off_cpu;

struct perf_off_cpu_cost {
    uint64_t copies, cut, lost;
};

struct perf_off_cpu_owner {
    /* Where the samples of a process go; NULL: nowhere. */
    struct target *(*target_of)(void *context, pid_t pid);
    void (*woken)(void *context, pid_t tid, pid_t waker);
    void *context;
};

/* False: the kernel lets this user not see switches of that process. */
bool perf_off_cpu_may(pid_t pid, struct refusal *why);
/* No thread yet. kernel: where in the kernel it waits, too. */
int perf_off_cpu_new(struct perf_off_cpu **out, uint32_t stack_bytes, bool kernel);
void perf_off_cpu_free(struct perf_off_cpu *off_cpu); /* NULL is fine */
int perf_off_cpu_add(struct perf_off_cpu *off_cpu, pid_t tid);
void perf_off_cpu_drain(struct perf_off_cpu *off_cpu, const struct perf_off_cpu_owner *owner,
                        int64_t now_ns, struct perf_off_cpu_cost *cost);
/* Which become readable when there is work; returns how many, room at most. */
size_t perf_off_cpu_descriptors(const struct perf_off_cpu *off_cpu, int *out, size_t room);

#endif

/*
 * cpu_rule.h - has something used more than 80 % of a processor for a minute?
 *
 *   collector's rounds (a process' clock), watcher (a thread's) -> cpu_rule_feed -> cpu_high
 *
 * It counts from the first second above 80 %, and forgets that when the average falls below 40 %. Told once, it is
 * mute for a minute.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds; cpu_ns: CPU time so far.
 * Ownership  The user's struct; all zeros has heard nothing.
 * Threads    One at a time. Pure.
 */
#ifndef ISOSCOPE_CPU_RULE_H
#define ISOSCOPE_CPU_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_rule {
    bool begun, counts;
    uint64_t cpu_ns; /* at the last step */
    int64_t at_ns;
    uint64_t from_cpu_ns; /* where it counts from */
    int64_t from_ns;
    int64_t mute_ns; /* until then */
};

struct cpu_use {
    int64_t from_ns, to_ns;
    uint32_t permille; /* of one processor, on average */
};

/* As often as there is a reading anyway. True: it has, as out says. */
bool cpu_rule_feed(struct cpu_rule *rule, uint64_t cpu_ns, int64_t now_ns, struct cpu_use *out);

#endif

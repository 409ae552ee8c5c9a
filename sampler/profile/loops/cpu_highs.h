/*
 * cpu_highs.h - the last times that the CPU rule was broken.
 *
 *   watcher -> cpu_highs_add -> profile_cpu_high, and once each to loop_reports
 *
 * Ownership  The user's struct; cpu_highs_begin makes it, cpu_highs_end ends it.
 * Threads    Any; a lock of its own.
 */
#ifndef ISOSCOPE_CPU_HIGHS_H
#define ISOSCOPE_CPU_HIGHS_H

#include "../stalls.h"
#include "cpu_rule.h"

#include <pthread.h>

enum { CPU_HIGHS_MAX = 256 };

struct cpu_highs {
    pthread_mutex_t lock;
    uint64_t last; /* number; list[number % CPU_HIGHS_MAX] */
    uint64_t told; /* up to this one */
    struct cpu_high list[CPU_HIGHS_MAX];
};

void cpu_highs_begin(struct cpu_highs *highs);
void cpu_highs_end(struct cpu_highs *highs);
void cpu_highs_add(struct cpu_highs *highs, uint64_t process_id, int32_t tid,
                   const struct cpu_use *use);
/* As profile_cpu_high: those behind since that are still known, the first first. */
size_t cpu_highs_list(struct cpu_highs *highs, uint64_t since, struct cpu_high *out,
                      size_t capacity);
/* One that was not given out by this call yet. */
bool cpu_highs_next(struct cpu_highs *highs, struct cpu_high *out);

#endif

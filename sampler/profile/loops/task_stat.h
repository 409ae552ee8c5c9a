/*
 * task_stat.h - what a thread's stat and status files say beside its clocks.
 *
 *   /proc/PID/task/TID/stat, status -> text -> task_stat_parse, task_tracer_parse
 *
 * Threads    Any.
 * Source     proc_pid_stat(5), proc_pid_status(5).
 */
#ifndef ISOSCOPE_TASK_STAT_H
#define ISOSCOPE_TASK_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct task_stat {
    char letter;           /* 'R', 'S', 'D', 'T', 't', 'Z' and so on */
    uint64_t major_faults; /* since the thread began */
};

/* text: ends with 0. False: it is none such. */
bool task_stat_parse(const char *text, struct task_stat *out);
/* Who traces the thread; 0: nobody. */
int32_t task_tracer_parse(const char *status);

#endif

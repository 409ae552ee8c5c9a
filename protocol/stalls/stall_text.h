/*
 * stall_text.h - a stall in sentences, for people.
 *
 *   "spin (12): loop 'main' took 300 ms, in write_log (20 of 21 looks): it waited in futex for thread 13
 *   'worker', which stood in flush_log"
 *
 * Any bytes may be in it that names of threads, functions and files have.
 */
#ifndef ISOSCOPE_STALL_TEXT_H
#define ISOSCOPE_STALL_TEXT_H

#include "../../sampler/profile/stalls.h"

enum { STALL_TEXT_MAX = 1024 };

/* What is known of the cause. */
void stall_cause_text(char out[STALL_TEXT_MAX], const struct stall *stall);
/* Which loop was late, for how long, where and why. process: its name. */
void stall_message(char out[STALL_TEXT_MAX], const struct stall *stall, const char *process,
                   int32_t pid);
/* A stack of the culprit, or the last one: a function a line, leaf first; from malloc. NULL: there
 * is none, or no memory. */
char *stall_stack_text(const struct stall *stall);
/* process: its name; thread: its name, "" for the process. */
void cpu_high_message(char out[STALL_TEXT_MAX], const struct cpu_high *high, const char *process,
                      int32_t pid, const char *thread);

#endif

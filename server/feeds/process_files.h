/*
 * process_files.h - which program a process is now, and which process a pid is now: out of /proc.
 *
 * Errors     None: what cannot be read is "" or 0.
 */
#ifndef ISOSCOPE_PROCESS_FILES_H
#define ISOSCOPE_PROCESS_FILES_H

#include "../../sampler/feed/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its file; its short name where that may not be read; "" when it is ending or gone. */
void process_program(char out[FEED_EXE_BYTES], pid_t pid);

/* When it was started, in clock ticks since the machine's start: the next process of this pid has
 * another one. 0: it is gone. */
uint64_t process_start(pid_t pid);
/* It has been killed, or is on its way out: what it is sent now is lost. */
bool process_is_dying(pid_t pid);
/* The same moment as CLOCK_MONOTONIC has it, or up to a clock tick before. */
int64_t process_start_us(uint64_t start);

#endif

/*
 * processes_named.h - processes by the name that the kernel has for them.
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_PROCESSES_NAMED_H
#define ISOSCOPE_PROCESSES_NAMED_H

#include <stddef.h>
#include <sys/types.h>

/* Those that this user may sample, without isoscope itself. Returns how many, room at most. */
size_t processes_named(const char *pattern, pid_t *out, size_t room);

#endif

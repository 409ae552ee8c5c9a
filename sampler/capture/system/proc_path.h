/*
 * proc_path.h - where /proc tells of a process: /proc/self/maps, or /proc/PID/maps.
 *
 * Threads    Any; no libc beyond strings.
 */
#ifndef ISOSCOPE_PROC_PATH_H
#define ISOSCOPE_PROC_PATH_H

#include "number.h"

#include <stdint.h>
#include <string.h>

enum { PROC_PATH_BYTES = 64 };

/* pid: 0 is oneself. tail: "/maps" and the like. */
SIGNAL_SAFE_INLINE void proc_path(char out[PROC_PATH_BYTES], int32_t pid, const char *tail)
{
    char *at = out + strlen("/proc/");

    memcpy(out, "/proc/self", sizeof "/proc/self");
    at = pid ? number_put(at, pid) : at + strlen("self");
    memcpy(at, tail, strlen(tail) + 1);
}

#endif

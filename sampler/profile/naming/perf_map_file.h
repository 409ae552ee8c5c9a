/*
 * perf_map_file.h - finds and opens the perf map of a process: /tmp/perf-PID.map, as that process
 * sees /tmp and its own pid.
 *
 * It is somebody else's directory and anybody's file. What is opened is a regular file, no link, of
 * the process's user or root, and written since the process began: pids are used again, and nobody
 * removes these files.
 */
#ifndef ISOSCOPE_PERF_MAP_FILE_H
#define ISOSCOPE_PERF_MAP_FILE_H

#include <stdint.h>

/* The caller closes it. -1: there is none that can be believed. */
int perf_map_file_open(int32_t pid);

#endif

/*
 * host.h - what getVM tells about the machine and a process's memory, from /proc.
 *
 * Units      bytes.
 * Errors     What cannot be read is 0, or "unknown".
 */
#ifndef ISOSCOPE_HOST_H
#define ISOSCOPE_HOST_H

#include <stddef.h>
#include <stdint.h>

struct host_memory {
    int64_t rss_bytes, rss_max_bytes;
    int64_t own_bytes;      /* resident and not shared with a file */
    int64_t reserved_bytes; /* what may become so: private, writable, stacks */
};

void host_cpu(char *out, size_t size); /* model name of the first processor */
struct host_memory host_memory(int32_t pid);

#endif

/*
 * perf_descriptor.h - whether a descriptor that a program sent is what it said.
 *
 * It could have sent any, on which our ioctls mean something else.
 */
#ifndef ISOSCOPE_PERF_DESCRIPTOR_H
#define ISOSCOPE_PERF_DESCRIPTOR_H

#include <stdbool.h>

bool is_perf_descriptor(int fd);

#endif

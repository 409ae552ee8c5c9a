/*
 * proc_facts.h - facts of facts.h that stand in /proc.
 *
 * Threads    Any.
 * Errors     What cannot be read is 0, "unknown", or not told.
 */
#ifndef ISOSCOPE_PROC_FACTS_H
#define ISOSCOPE_PROC_FACTS_H

#include "../facts.h"

void proc_cpu(char *out, size_t size);
struct process_memory proc_memory(int32_t pid);

/* As profile_mappings. smaps: the path of /proc/PID/smaps, or of a copy. */
void proc_mappings(const char *smaps, mapping_found found, void *context);

#endif

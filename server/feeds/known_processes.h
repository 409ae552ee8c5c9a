/*
 * known_processes.h - the processes that the profile knows, as they are at one moment.
 *
 *   profile -> known_processes -> candidates.c, unsampled.c
 *
 * Errors     None: without memory it is empty.
 */
#ifndef ISOSCOPE_KNOWN_PROCESSES_H
#define ISOSCOPE_KNOWN_PROCESSES_H

#include "../../sampler/profile/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct known_processes {
    struct process_info *list;
    size_t count;
};

void known_processes_open(struct known_processes *known, struct profile *profile);
void known_processes_close(struct known_processes *known);

/* program: as this one; NULL: whatever it is. A process that became another program by exec may
 * count as living for a moment. */
bool known_processes_sampled(const struct known_processes *known, pid_t pid, const char *program);
/* The first that ended after so many ends; NULL: there is none. */
const struct process_info *known_processes_next_end(const struct known_processes *known,
                                                    uint64_t ends);

#endif

/*
 * maps.h - /proc/self/maps, or another process's, line by line, without libc.
 *
 * Threads    One at a time: maps_find has one buffer.
 * Errors     maps_open: 0 or -errno; maps_next: false at the end.
 */
#ifndef ISOSCOPE_MAPS_H
#define ISOSCOPE_MAPS_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAPS_BUFFER_BYTES = 16 * 1024, MAPS_PATH_BYTES = 4096 + 16 };

struct maps_line {
    uint64_t start, end, offset, inode;
    uint32_t dev_major, dev_minor;
    bool readable, writable, executable, shared;
    const char *path; /* "" when there is none; until the next call */
};

struct maps_reader {
    int fd;
    uint64_t read; /* bytes, until now */
    uint32_t at, filled;
    bool ended;
    char buffer[MAPS_BUFFER_BYTES];
};

/* pid: 0 is oneself. */
SIGNAL_SAFE int maps_open(struct maps_reader *reader, int32_t pid);
SIGNAL_SAFE bool maps_next(struct maps_reader *reader, struct maps_line *out);
SIGNAL_SAFE void maps_close(struct maps_reader *reader);

/* The readable mapping of our own around an address: for stacks nobody told us of. False: none is
 * there. */
SIGNAL_SAFE bool maps_find(uint64_t address, uint64_t *start, uint64_t *end);

/* Takes one line apart; text ends with 0 and is changed. For maps_next and its tests. */
SIGNAL_SAFE bool maps_parse(char *text, struct maps_line *out);

#endif

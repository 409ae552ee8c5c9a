/*
 * attach_options.h - the options of `isoscope attach`: one row each.
 *
 * Ownership  Strings point into argv, or into struct attach_options itself: it stays where it is.
 * Errors     attach_options_parse: 0 or -ISOSCOPE_INVALID, with a sentence in error.
 */
#ifndef ISOSCOPE_ATTACH_OPTIONS_H
#define ISOSCOPE_ATTACH_OPTIONS_H

#include "../service/serve.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { ATTACH_PIDS_MAX = 256 };

struct attach_options {
    struct serve_options serve;
    unsigned via;     /* enum attached_via */
    const char *name; /* pattern of programs' names; NULL: pids are given */
    bool all;         /* every process; pids has one, 0 */
    bool alone;       /* without children */
    bool off_cpu;
    bool kernel;
    bool eject;
    bool no_runtimes;
    uint32_t seconds; /* 0: until the programs end */
    bool help;
    pid_t pids[ATTACH_PIDS_MAX];
    size_t pid_count;
};

int attach_options_parse(struct attach_options *out, int argc, char **argv, char *error,
                         size_t error_size);
void attach_options_help(FILE *out);

#endif

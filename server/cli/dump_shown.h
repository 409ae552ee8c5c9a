/*
 * dump_shown.h - stacks with names and lines, as text or as JSON.
 */
#ifndef ISOSCOPE_DUMP_SHOWN_H
#define ISOSCOPE_DUMP_SHOWN_H

#include "../../sampler/remote/stacks/thread_stacks.h"

#include <stdbool.h>

struct dump_shown {
    bool json, no_lines;
    const char *threads; /* pattern of names, or a tid; NULL: all */
};

/* Returns the exit status. */
int dump_show(const struct thread_stacks *stacks, const struct dump_shown *shown);

#endif

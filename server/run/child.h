/*
 * child.h - starting the program, and ending like it.
 *
 * Errors     child_start: 0, or -ISOSCOPE_SYSTEM with the errno of exec in *problem,
 *            or that of fork, negative.
 */
#ifndef ISOSCOPE_CHILD_H
#define ISOSCOPE_CHILD_H

#include "inherited.h"

#include <sys/types.h>

struct child_plan {
    const char *path;
    char **arguments; /* argv of the program */
    char **environment;
    const struct inherited *inherited;
    const int *output; /* what becomes its 1 and 2, and -1 for those that stay; NULL: both stay */
};

int child_start(pid_t *out, const struct child_plan *plan, int *problem);

/*
 * The exit status that says the same as wait_status. When the program was killed by a signal, this
 * process dies of the same one, so that our caller sees what it would have seen.
 */
int child_end_like(int wait_status);

#endif

/*
 * status.h - the exit statuses that are isoscope's own, chosen like env(1) and timeout(1) do.
 */
#ifndef ISOSCOPE_STATUS_H
#define ISOSCOPE_STATUS_H

enum exit_status {
    STATUS_OK = 0,
    STATUS_NOTHING = 1, /* a command that shows something failed, or has nothing to show */
    STATUS_USAGE = 2,
    STATUS_STALLED =
        3, /* the program ended with 0, or was attached to, and a loop of it stalled (--fail-on-stall) */
    STATUS_REFUSED = 4,  /* a receiver did not want all that was pushed */
    STATUS_UNSENT = 5,   /* it was in trouble, and has not got all */
    STATUS_FAILED = 125, /* isoscope itself failed; the program was not started */
    STATUS_NOT_EXECUTABLE = 126,
    STATUS_NOT_FOUND = 127,
};

#endif

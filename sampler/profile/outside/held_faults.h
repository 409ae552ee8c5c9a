/*
 * held_faults.h - a program's event of page faults: held here alone, and switched from here.
 *
 *   hello (SCM_RIGHTS) -> held_faults -> on and off, as settings and debuggers say
 *
 * Ownership  Owns the descriptor. All zeros holds none.
 * Threads    The holder of the collector's round.
 * Errors     None: what is no perf event is closed.
 */
#ifndef ISOSCOPE_HELD_FAULTS_H
#define ISOSCOPE_HELD_FAULTS_H

#include <stdbool.h>

struct held_faults {
    int fd;
    bool has, runs;
};

/* Takes over fd, of an event that traps; -1: there is none. */
void held_faults_take(struct held_faults *faults, int fd);
void held_faults_run(struct held_faults *faults, bool runs);
void held_faults_drop(struct held_faults *faults);

#endif

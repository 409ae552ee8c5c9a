/*
 * supervisor.h - stands between the caller and the program: signals, job control, the exit status.
 *
 *   caller, terminal -> signalfd -> supervisor -> program
 *   program stops, goes on, ends -> SIGCHLD -> supervisor -> run
 *
 * Ownership  The supervisor lives until its loop has been freed; then supervisor_free.
 * Threads    supervisor_new before any other thread is made: they inherit the blocked signals.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_SUPERVISOR_H
#define ISOSCOPE_SUPERVISOR_H

#include "child.h"
#include "inherited.h"

struct loop;
struct supervisor;

struct supervisor_events {
    /* The program has ended; once. wait_status: as waitpid gives it. */
    void (*ended)(void *context, pid_t program, int wait_status);
    void (*asked_to_end)(void *context); /* a signal to us, after the program's end */
};

/* From here on signals wait for supervisor_watch. */
int supervisor_new(struct supervisor **out, const struct inherited *inherited);
void supervisor_free(struct supervisor *supervisor); /* NULL is fine */

int supervisor_watch(struct supervisor *supervisor, struct loop *loop,
                     const struct supervisor_events *events, void *context);
/* problem: as child_start. */
int supervisor_start(struct supervisor *supervisor, const struct child_plan *plan, int *problem);
pid_t supervisor_program(const struct supervisor *supervisor); /* 0: not started, or ended */
/* Without the loop: waits for the program's end. For when the loop has failed. */
void supervisor_wait(struct supervisor *supervisor);

#endif

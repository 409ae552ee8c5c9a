/*
 * supervisor.h - stands between the caller and the program: signals, job control, how things end.
 *
 *   caller, terminal -> signalfd -> supervisor -> program
 *   program stops, goes on, ends -> SIGCHLD -> supervisor -> run
 *   service ends                 ---^
 *
 * The service is another child of ours, so that its failure is not the program's.
 *
 * Threads    supervisor_new before any other thread is made: they inherit the blocked signals.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_SUPERVISOR_H
#define ISOSCOPE_SUPERVISOR_H

#include "child.h"
#include "inherited.h"

#include "../../sampler/profile/profile.h"

struct supervisor;

struct supervisor_events {
    void (*program_ended)(void *context, const struct profile_exit *end); /* once */
    void (*service_ended)(void *context, int wait_status); /* once; as waitpid gives it */
    /* A signal to us, while there is no program to pass it on to. */
    void (*asked_to_end)(void *context, int number);
};

/* From here on signals wait for supervisor_step. */
int supervisor_new(struct supervisor **out, const struct inherited *inherited,
                   const struct supervisor_events *events, void *context);
void supervisor_free(struct supervisor *supervisor); /* NULL is fine */

/* problem: as child_start. */
int supervisor_start(struct supervisor *supervisor, const struct child_plan *plan, int *problem);
void supervisor_adopt_service(struct supervisor *supervisor, pid_t service);
pid_t supervisor_program(const struct supervisor *supervisor); /* 0: not started, or ended */

/*
 * Waits for signals and acts on them, or for input at fd (-1: none), or for so many milliseconds
 * (-1: for ever). True when there is input.
 */
bool supervisor_step(struct supervisor *supervisor, int fd, int milliseconds);

#endif

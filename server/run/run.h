/*
 * run.h - `isoscope run` and `isoscope record`: a program, the sampler in it, and the service beside it.
 *
 *   options -> target -> port, info file -> profile, protocol, loop -> program -> its exit status
 *
 * The run ends when the program that was started ends. What it left running in the background runs
 * on, unsampled. Clients that are connected then get two seconds for what they are owed and for a
 * last question; without clients nothing waits.
 *
 * Errors     Said on stderr.
 */
#ifndef ISOSCOPE_RUN_H
#define ISOSCOPE_RUN_H

struct inherited;

/* argv[0] is "run" or "record". Returns the exit status (status.h, or the program's own). */
int run_command(int argc, char **argv, const struct inherited *inherited);

#endif

/*
 * stall_command.h - the command that the user wants run for each stall (`--on-stall`).
 *
 *   stall_watch.h -> a queue -> sh -c COMMAND, one at a time -> its end -> the next one
 *
 * It has isoscope's own surroundings, never the preload, and ISOSCOPE_STALL_* beside them; nothing to read, and stderr to
 * write to. Where it takes too long, STALL_COMMANDS_MAX wait and the others are left out, and counted. That it failed is
 * said once.
 *
 * Ownership  Borrows the texts that it is made with, and loop. stall_command_free, which kills what runs, after
 *            loop_free.
 * Threads    The service thread.
 * Errors     0 or a negative isoscope_error; what goes wrong later is said on stderr.
 */
#ifndef ISOSCOPE_STALL_COMMAND_H
#define ISOSCOPE_STALL_COMMAND_H

#include "../../sampler/profile/stalls.h"

#include <stdbool.h>

enum { STALL_COMMANDS_MAX = 16 };

struct loop;
struct stall_command;

/* uri: of the service; "": nothing listens. */
int stall_command_new(struct stall_command **out, struct loop *loop, const char *command,
                      const char *uri);
void stall_command_free(struct stall_command *command); /* NULL is fine */

/* It is run soon, for this stall's begin or its end. pid: of its process. */
void stall_command_add(struct stall_command *command, const struct stall *stall, int32_t pid,
                       bool end);

/* One runs, or waits. */
bool stall_command_runs(const struct stall_command *command);
/* No more come: what is there may take some seconds. */
void stall_command_finish(struct stall_command *command);
/* What is there goes now. */
void stall_command_stop(struct stall_command *command);

#endif

/*
 * serve_command.h - the command `isoscope serve`: session files as the live service that they were,
 * or a service for all programs of a host.
 */
#ifndef ISOSCOPE_SERVE_COMMAND_H
#define ISOSCOPE_SERVE_COMMAND_H

struct inherited;

/* argv[0] is the command's own name. Returns the exit status. */
int serve_command(int argc, char **argv, const struct inherited *inherited);

#endif

/*
 * serve_files.h - the command `isoscope serve`: session files as the live service that they were.
 *
 *   files -> profile -> service, port -> clients, until Ctrl-C
 */
#ifndef ISOSCOPE_SERVE_FILES_H
#define ISOSCOPE_SERVE_FILES_H

struct inherited;

/* argv[0] is the command's own name. Returns the exit status. */
int serve_files_command(int argc, char **argv, const struct inherited *inherited);

#endif

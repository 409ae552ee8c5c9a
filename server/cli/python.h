/*
 * python.h - the commands that are written in Python (tree, ...), under the same name.
 *
 * Errors     Returns only on failure, with the exit status; the reason has been said then.
 */
#ifndef ISOSCOPE_PYTHON_H
#define ISOSCOPE_PYTHON_H

/* Becomes `python3 -m isoscope ARGS...`. arguments: the command's word first, NULL-terminated. */
int python_command(char **arguments);

#endif

/*
 * symbolize.h - the command `isoscope symbolize`: names for what was recorded without
 * (`--no-symbols`), a session file or single addresses (addresses.h).
 */
#ifndef ISOSCOPE_SYMBOLIZE_H
#define ISOSCOPE_SYMBOLIZE_H

struct inherited;

/* argv[0] is the command's own name. Returns the exit status. */
int symbolize_command(int argc, char **argv, const struct inherited *inherited);

#endif

/*
 * symbolize.h - the command `isoscope symbolize`: names for addresses that another machine's
 * profile has left without (`isoscope run --no-symbols`).
 */
#ifndef ISOSCOPE_SYMBOLIZE_H
#define ISOSCOPE_SYMBOLIZE_H

struct inherited;

/* argv[0] is the command's own name. Returns the exit status. */
int symbolize_command(int argc, char **argv, const struct inherited *inherited);

#endif

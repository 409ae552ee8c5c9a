/*
 * attach.h - `isoscope attach`: programs that run already, sampled from outside and served.
 *
 *   arguments -> service_host.h, and for each process sampler/remote/attached.h -> profile_attach
 *
 * One process serves and samples: nobody's exit status hangs on it.
 */
#ifndef ISOSCOPE_ATTACH_H
#define ISOSCOPE_ATTACH_H

struct inherited;

/* Returns the exit status. argv[0]: "attach". */
int attach_command(int argc, char **argv, const struct inherited *inherited);

#endif

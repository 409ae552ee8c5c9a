/*
 * dump.h - `isoscope dump PID|CORE`: one stack of every thread of a process or a core file that no service profiles.
 *
 *   arguments -> sampler/remote/stacks -> names and lines (address_symbolizer.h) -> text or JSON
 *
 * With any other source `dump` is the Python client's.
 */
#ifndef ISOSCOPE_DUMP_H
#define ISOSCOPE_DUMP_H

#include <stdbool.h>

struct inherited;

/* Among the words is a number of a process, or an ELF file. argv[0]: "dump". */
bool dump_is_of_process(int argc, char **argv);
/* Returns the exit status. */
int dump_command(int argc, char **argv, const struct inherited *inherited);

#endif

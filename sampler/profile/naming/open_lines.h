/*
 * open_lines.h - the debug data that is open now: opened when first asked for, closed when others
 * need the memory.
 *
 * Threads    The symbol worker.
 * Errors     open_lines_new: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_OPEN_LINES_H
#define ISOSCOPE_OPEN_LINES_H

#include "registry.h"
#include "../symbols/lines.h"

#include <stddef.h>

struct open_lines;

enum { OPEN_LINES_BYTES_DEFAULT = 256 * 1024 * 1024 };

int open_lines_new(struct open_lines **out, size_t bytes_max);
void open_lines_free(struct open_lines *open); /* NULL is fine */

/* Lent until the next call; NULL: the module has none. Sets module->lines. */
struct lines *open_lines_of(struct open_lines *open, struct module *module,
                            const struct module_file *file);

#endif

/*
 * own_malloc.h - does the program have a malloc of its own?
 *
 * Then its calls, and libc's, reach that one and not libisoscope_alloc.so's, which stands behind the executable.
 *
 * Threads    Any, at the start. Not signal-safe: it asks the loader.
 */
#ifndef ISOSCOPE_OWN_MALLOC_H
#define ISOSCOPE_OWN_MALLOC_H

#include <stdbool.h>

/* False, too, where libisoscope_alloc.so is not there. */
bool program_has_own_malloc(void);

#endif

/*
 * demangle.h - C++ and both manglings of Rust made readable, in bounded time and memory.
 *
 *   display_name -> demangle -> libiberty, cplus_short (cuts what the short name does without)
 *
 * A file may hold names that read out to petabytes; those, like what is no mangled name at all,
 * stay as they are.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_DEMANGLE_H
#define ISOSCOPE_DEMANGLE_H

#include <stdbool.h>

/* It begins like a mangled name. */
bool demangle_likely(const char *name);
/* brief: without parameters, return types and ABI tags; template arguments stay. The caller frees
 * it. NULL: it is no mangled name, it is too long, or there is no memory. */
char *demangle(const char *mangled, bool brief);

#endif

/*
 * mangled.h - what a mangled name says, for names that no symbol table holds.
 *
 * Ownership  Results are new: free() them. NULL: the name is not a mangled one, or no memory.
 * Threads    Any.
 */
#ifndef ISOSCOPE_MANGLED_H
#define ISOSCOPE_MANGLED_H

char *mangled_short(const char *name); /* without parameters */
char *mangled_full(const char *name);

#endif

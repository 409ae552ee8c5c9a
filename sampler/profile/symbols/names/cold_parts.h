/*
 * cold_parts.h - which function "foo.cold" is a part of.
 *
 * Several static functions may be called foo: a part's is the one from its own source file, which
 * the order of the symbol table tells. Without that, a foo that is the only one.
 *
 * Errors     0 or -ISOSCOPE_NO_MEMORY. A part whose function is not found stays a function itself.
 */
#ifndef ISOSCOPE_COLD_PARTS_H
#define ISOSCOPE_COLD_PARTS_H

struct ranges;

/* Sets the home of all cold parts among the symbols. Before ranges_build sorts out the aliases: a
 * part may be called after any of them. */
int cold_parts_find_home(struct ranges *ranges);

#endif

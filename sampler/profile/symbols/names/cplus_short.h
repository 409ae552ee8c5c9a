/*
 * cplus_short.h - the tree of a C++ name, cut down to what a person says of it.
 *
 *     int ns::call<main(int, char**)::{lambda(int)#1}>(...) -> ns::call<main::{lambda(int)#1}>
 *     std::__cxx11::basic_string<char, ...>                 -> std::string
 *     std::vector<int, std::allocator<int> >                -> std::vector<int>
 *
 * Ownership  The tree stays the demangler's; it is changed in place.
 */
#ifndef ISOSCOPE_CPLUS_SHORT_H
#define ISOSCOPE_CPLUS_SHORT_H

#include <libiberty/demangle.h>

/* Returns the tree to print. */
struct demangle_component *cplus_short(struct demangle_component *name);

#endif

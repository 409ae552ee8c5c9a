/*
 * display_name.h - a symbol's name as a person says it.
 *
 *     _ZNK2ns3FooIiE3barEi.isra.0 -> "ns::Foo<int>::bar [isra]"
 *                                    "ns::Foo<int>::bar(int) const [isra]"
 *
 * C++, both manglings of Rust, and other_languages.h. The short name has no parameters, return
 * types and ABI tags; it keeps template arguments. What a compiler made of the function follows as
 * a mark.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_DISPLAY_NAME_H
#define ISOSCOPE_DISPLAY_NAME_H

#include <stdbool.h>

struct display_name {
    const char *full_name; /* with parameters */
    char name[];
};

/* What is known of a symbol besides its name. */
enum display_name_trait {
    DISPLAY_NAME_RESOLVER = 1, /* of an ifunc */
    DISPLAY_NAME_GNAT = 2,     /* of a file with Ada code */
};

/* False: the name is said as it is written. traits: of display_name_trait. */
bool display_name_differs(const char *raw, unsigned traits);
/* One block, for free(). NULL: out of memory. */
struct display_name *display_name_new(const char *raw, unsigned traits);

#endif

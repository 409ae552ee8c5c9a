/*
 * function_names.h - what a function's DIE, and those it refers to, say of its name and place.
 *
 * Follows DW_AT_abstract_origin and DW_AT_specification, into other units and files; not for ever.
 *
 * Ownership  Texts are libdw's.
 */
#ifndef ISOSCOPE_FUNCTION_NAMES_H
#define ISOSCOPE_FUNCTION_NAMES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct function_names {
    const char *name, *linkage_name; /* NULL: none */
    uint32_t decl_line;
    uint64_t decl_file; /* its number in the line table of decl_die's unit */
    bool declared;      /* decl_file is known */
    Dwarf_Die decl_die;
    Dwarf_Die name_die; /* the one that has name */
};

void function_names_read(struct function_names *out, const Dwarf_Die *die);

#endif

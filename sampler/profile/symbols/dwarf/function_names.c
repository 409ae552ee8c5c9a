#include "function_names.h"

#include <dwarf.h>

enum { REFERENCES_MAX = 16 };

static const char *text_of(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attr;

    return dwarf_formstring(dwarf_attr(die, name, &attr));
}

static bool number_of(Dwarf_Die *die, unsigned int name, Dwarf_Word *out)
{
    Dwarf_Attribute attr;

    return dwarf_formudata(dwarf_attr(die, name, &attr), out) == 0;
}

static bool follow(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attr;
    Dwarf_Die next;

    if (!dwarf_formref_die(dwarf_attr(die, name, &attr), &next))
        return false;
    *die = next;
    return true;
}

/* What no DIE nearer to the code has said. */
static void read_die(struct function_names *out, Dwarf_Die *die)
{
    Dwarf_Word number;

    if (!out->name && (out->name = text_of(die, DW_AT_name)))
        out->name_die = *die;
    if (!out->linkage_name)
        out->linkage_name = text_of(die, DW_AT_linkage_name);
    if (!out->linkage_name)
        out->linkage_name = text_of(die, DW_AT_MIPS_linkage_name);
    if (!out->decl_line && number_of(die, DW_AT_decl_line, &number))
        out->decl_line = (uint32_t)number;
    if (!out->declared && number_of(die, DW_AT_decl_file, &number)) {
        out->declared = true;
        out->decl_file = number;
        out->decl_die = *die;
    }
}

void function_names_read(struct function_names *out, const Dwarf_Die *die)
{
    Dwarf_Die at = *die;

    *out = (struct function_names){ 0 };
    for (int i = 0; i < REFERENCES_MAX; i++) {
        read_die(out, &at);
        if (!follow(&at, DW_AT_abstract_origin) && !follow(&at, DW_AT_specification))
            break;
    }
}

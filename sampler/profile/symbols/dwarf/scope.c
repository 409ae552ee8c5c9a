#include "scope.h"

#include "function_names.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

enum { SCOPE_BYTES_MAX = 2048, DEFINITIONS_MAX = 4, CLASS_CHILDREN_MAX = 1024 };

struct text {
    char bytes[SCOPE_BYTES_MAX];
    size_t count;
};

/* Of the one unit that it is all about. */
struct unit_scopes {
    const struct scope_map *map;
    const struct unit_dies *dies;
};

static bool is_class(uint16_t tag)
{
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static void add_scope_name(struct text *text, const char *name)
{
    int bytes = snprintf(text->bytes + text->count, sizeof(text->bytes) - text->count, "%s%s",
                         text->count ? "::" : "", name);

    text->count += (size_t)bytes;
    if (text->count >= sizeof(text->bytes))
        text->count = sizeof(text->bytes) - 1;
}

/* Compilers give it no name of its own. A class of the source that has none can be called, too, but
 * nobody writes that instead of a lambda. */
static bool is_lambda(Dwarf_Die *class)
{
    const char *name;
    Dwarf_Die die;
    int left = CLASS_CHILDREN_MAX;

    if (dwarf_child(class, &die) != 0)
        return false;
    do {
        name = dwarf_tag(&die) == DW_TAG_subprogram ? dwarf_diename(&die) : NULL;
        if (name && !strcmp(name, "operator()"))
            return true;
    } while (left-- > 0 && dwarf_siblingof(&die, &die) == 0);
    return false;
}

static void add_class(struct text *text, Dwarf_Die *class)
{
    const char *name = dwarf_diename(class);

    if (!name)
        name = is_lambda(class) ? "{lambda}" : "(anonymous class)";
    add_scope_name(text, name);
}

static void add_scope(const struct unit_scopes *unit, uint64_t place, uint32_t deep,
                      struct text *text);

/* A function's own place may be where it is declared: in its class. */
static void add_function(const struct unit_scopes *unit, Dwarf_Die *die, uint32_t deep,
                         struct text *text)
{
    struct function_names names;
    uint64_t named;

    function_names_read(&names, die);
    if (!names.name)
        return;
    named = dwarf_dieoffset(&names.name_die);
    if (deep < DEFINITIONS_MAX && named != dwarf_dieoffset(die) &&
        dwarf_cu_getdwarf(names.name_die.cu) == unit->dies->dwarf) {
        text->count = 0;
        add_scope(unit, named, deep + 1, text);
    }
    add_scope_name(text, names.name);
}

static void add_parent(const struct unit_scopes *unit, const struct scope_parent *parent,
                       uint32_t deep, struct text *text)
{
    const char *name;
    Dwarf_Die die;

    if (!unit_dies_at(unit->dies, parent->place, &die))
        return;
    if (parent->tag == DW_TAG_subprogram)
        add_function(unit, &die, deep, text);
    else if (is_class(parent->tag))
        add_class(text, &die);
    else
        add_scope_name(text, (name = dwarf_diename(&die)) ? name : "(anonymous namespace)");
}

static void add_scope(const struct unit_scopes *unit, uint64_t place, uint32_t deep,
                      struct text *text)
{
    struct scope_parent parents[SCOPE_PARENTS_MAX];
    uint32_t count = scope_map_find(unit->map, unit->dies, place, parents);

    /* A function in a function: its own name is all that C, too, would say. */
    while (count && parents[count - 1].tag == DW_TAG_subprogram)
        count--;
    for (uint32_t i = 0; i < count; i++)
        add_parent(unit, &parents[i], deep, text);
}

char *scope_of(const struct scope_map *map, const struct unit_dies *dies, uint64_t place)
{
    struct unit_scopes unit = { map, dies };
    struct text text = { .count = 0 };

    add_scope(&unit, place, 0, &text);
    return text.count ? strdup(text.bytes) : NULL;
}

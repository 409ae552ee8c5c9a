#include "scope.h"

#include "../../../feed/cleanup.h"
#include "abbrevs.h"
#include "function_names.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPES_MAX = 32, SCOPE_BYTES_MAX = 2048, DEFINITIONS_MAX = 4, CLASS_CHILDREN_MAX = 1024 };

struct parent {
    uint64_t place;
    uint32_t depth;
    uint16_t tag;
};

struct search {
    const struct unit_dies *dies;
    struct abbrevs abbrevs;
    struct cursor cursor;
    struct parent parents[SCOPES_MAX]; /* those that a name shows, outermost first */
    uint32_t count, depth;
};

struct text {
    char bytes[SCOPE_BYTES_MAX];
    size_t count;
};

static bool is_class(uint16_t tag)
{
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool is_shown(uint16_t tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || is_class(tag);
}

static uint64_t place_of(const struct search *search)
{
    return (uint64_t)(search->cursor.at - search->dies->info.at);
}

static void leave(struct search *search)
{
    search->depth -= search->depth > 0;
    if (search->count && search->parents[search->count - 1].depth == search->depth)
        search->count--;
}

static void enter(struct search *search, uint64_t place, uint16_t tag)
{
    if (is_shown(tag) && search->count < SCOPES_MAX)
        search->parents[search->count++] = (struct parent){ place, search->depth, tag };
    search->depth++;
}

/* One DIE, and all in it where the wanted one is not among it. */
static void step(struct search *search, uint64_t wanted)
{
    uint64_t place = place_of(search), code = cursor_uleb(&search->cursor), sibling;
    const struct abbrev *abbrev = abbrevs_find(&search->abbrevs, code);

    if (!code) {
        leave(search);
        return;
    }
    if (!abbrev) {
        cursor_fail(&search->cursor);
        return;
    }
    sibling = abbrevs_skip(&search->abbrevs, abbrev, &search->cursor, &search->dies->header);
    if (sibling > place_of(search) && sibling <= wanted)
        search->cursor.at = search->dies->info.at + sibling;
    else if (abbrev->children)
        enter(search, place, abbrev->tag);
}

/* False: there is no DIE at the place. */
static bool find_parents(struct search *search, uint64_t place)
{
    const struct unit_header *unit = &search->dies->header;

    if (place < unit->die || place >= unit->end ||
        abbrevs_read(&search->abbrevs, search->dies->abbrev, unit->abbrevs, &unit->shape) < 0)
        return false;
    search->cursor = cursor_of((struct bytes){ search->dies->info.at, unit->end }, unit->die);
    while (!search->cursor.failed && place_of(search) < place)
        step(search, place);
    return !search->cursor.failed && place_of(search) == place;
}

static void search_end(struct search *search)
{
    abbrevs_free(&search->abbrevs);
}

static void add(struct text *text, const char *name)
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
    add(text, name);
}

static void add_scope(const struct unit_dies *dies, uint64_t place, uint32_t deep,
                      struct text *text);

/* A function's own place may be where it is declared: in its class. */
static void add_function(const struct unit_dies *dies, Dwarf_Die *die, uint32_t deep,
                         struct text *text)
{
    struct function_names names;
    uint64_t named;

    function_names_read(&names, die);
    if (!names.name)
        return;
    named = dwarf_dieoffset(&names.name_die);
    if (deep < DEFINITIONS_MAX && named != dwarf_dieoffset(die) &&
        dwarf_cu_getdwarf(names.name_die.cu) == dies->dwarf) {
        text->count = 0;
        add_scope(dies, named, deep + 1, text);
    }
    add(text, names.name);
}

static void add_parent(const struct unit_dies *dies, const struct parent *parent, uint32_t deep,
                       struct text *text)
{
    const char *name;
    Dwarf_Die die;

    if (!unit_dies_at(dies, parent->place, &die))
        return;
    if (parent->tag == DW_TAG_subprogram)
        add_function(dies, &die, deep, text);
    else if (is_class(parent->tag))
        add_class(text, &die);
    else
        add(text, (name = dwarf_diename(&die)) ? name : "(anonymous namespace)");
}

static void add_scope(const struct unit_dies *dies, uint64_t place, uint32_t deep,
                      struct text *text)
{
    CLEANUP(search_end) struct search search = { .dies = dies };
    uint32_t count;

    if (!find_parents(&search, place))
        return;
    /* A function in a function: its own name is all that C, too, would say. */
    for (count = search.count; count && search.parents[count - 1].tag == DW_TAG_subprogram;)
        count--;
    for (uint32_t i = 0; i < count; i++)
        add_parent(dies, &search.parents[i], deep, text);
}

char *scope_of(const struct unit_dies *dies, uint64_t place)
{
    struct text text = { .count = 0 };

    add_scope(dies, place, 0, &text);
    return text.count ? strdup(text.bytes) : NULL;
}

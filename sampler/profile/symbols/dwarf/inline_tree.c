#include "inline_tree.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "../key_sort.h"
#include "code_die.h"
#include "../../base/grow.h"

#include <dwarf.h>

enum { DEPTH_MAX = 1 << 16, RANGES_MIN = 1 << 16 };

struct walk {
    const struct unit_dies *dies;
    const struct unit_shape *shape;
    struct inline_tree *tree;
    struct abbrevs abbrevs;
    struct cursor cursor;
    struct spans spans;
    uint64_t ranges_left;
    uint64_t *origins; /* of the tree's nodes */
    uint32_t origin_capacity;
    uint32_t *enclosing; /* by depth: the node we are in */
    uint32_t depth, depth_capacity;
};

void inline_tree_free(struct inline_tree *tree)
{
    free(tree->nodes);
    cuts_free(&tree->by_address);
    *tree = (struct inline_tree){ 0 };
}

static void walk_end(struct walk *walk)
{
    abbrevs_free(&walk->abbrevs);
    spans_free(&walk->spans);
    free(walk->origins);
    free(walk->enclosing);
}

static uint64_t place_of(const struct walk *walk)
{
    return (uint64_t)(walk->cursor.at - walk->dies->info.at);
}

static int add_span(struct walk *walk, uint64_t start, uint64_t end, uint32_t node)
{
    if (start < walk->dies->code_start || start >= walk->dies->code_end)
        return 0;
    return spans_add(&walk->spans, start, end, node);
}

static int add_intricate_spans(struct walk *walk, uint64_t place, uint32_t node)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    Dwarf_Die die;

    if (!unit_dies_at(walk->dies, place, &die))
        return 0;
    for (; walk->ranges_left > 0; walk->ranges_left--) {
        at = dwarf_ranges(&die, at, &base, &start, &end);
        if (at <= 0)
            break;
        if (add_span(walk, start, end, node) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

static int add_node(struct walk *walk, const struct code_die *code, uint64_t place, uint32_t caller)
{
    struct inline_tree *tree = walk->tree;

    if (tree->count == NODE_NONE || !GROW(tree->nodes, tree->count, tree->capacity) ||
        !GROW(walk->origins, tree->count, walk->origin_capacity))
        return -ISOSCOPE_NO_MEMORY;
    walk->origins[tree->count] = code->origin;
    tree->nodes[tree->count++] = (struct inline_node){
        .die = place, .caller = caller, .call_file = code->call_file, .call_line = code->call_line
    };
    return 0;
}

/* A function's DIE. node: the one we are in, and after it, the one its children are in. */
static int walk_code(struct walk *walk, const struct abbrev *abbrev, uint64_t place, uint32_t *node)
{
    struct code_die code = { .origin = place };
    bool inlined = abbrev->tag == DW_TAG_inlined_subroutine;
    uint32_t caller = inlined ? *node : NODE_NONE;

    code_die_read(&code, &walk->cursor, &walk->dies->header, &walk->abbrevs, abbrev);
    *node = caller;
    /* A declaration, or the description of what is inlined elsewhere. */
    if (!code.intricate && !(code.has_low && code.has_high) && caller == NODE_NONE)
        return 0;
    if (!inlined)
        code.origin = place;
    *node = walk->tree->count;
    if (add_node(walk, &code, place, caller) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (code.intricate)
        return add_intricate_spans(walk, place, *node);
    if (!code.has_low || !code.has_high)
        return 0;
    return add_span(walk, code.low, code.high_is_size ? code.low + code.high : code.high, *node);
}

/* Code is in other code and in namespaces; what is in these is not worth a look. */
static bool holds_no_code(const struct walk *walk, uint16_t tag)
{
    if (tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type)
        return walk->dies->types_without_code;
    return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site ||
           tag == DW_TAG_enumeration_type || tag == DW_TAG_subroutine_type ||
           tag == DW_TAG_array_type || tag == DW_TAG_formal_parameter || tag == DW_TAG_variable;
}

/* True: the cursor is behind its children, too. */
static bool walk_other(struct walk *walk, const struct abbrev *abbrev)
{
    bool leap = abbrev->sibling && holds_no_code(walk, abbrev->tag);
    uint64_t sibling;

    if (!leap && abbrev->bytes != FORM_BYTES_VARY) {
        cursor_skip(&walk->cursor, (uint64_t)abbrev->bytes);
        return false;
    }
    sibling = abbrevs_skip(&walk->abbrevs, abbrev, &walk->cursor, &walk->dies->header);
    if (!leap || sibling <= place_of(walk))
        return false;
    walk->cursor.at = walk->dies->info.at + sibling;
    return true;
}

static int enter(struct walk *walk, uint32_t node)
{
    if (walk->depth == DEPTH_MAX) {
        cursor_fail(&walk->cursor);
        return 0;
    }
    if (!GROW(walk->enclosing, walk->depth, walk->depth_capacity))
        return -ISOSCOPE_NO_MEMORY;
    walk->enclosing[walk->depth++] = node;
    return 0;
}

static int walk_die(struct walk *walk)
{
    uint64_t place = place_of(walk), code = cursor_uleb(&walk->cursor);
    const struct abbrev *abbrev = abbrevs_find(&walk->abbrevs, code);
    uint32_t node = walk->depth ? walk->enclosing[walk->depth - 1] : NODE_NONE;
    bool inside = true;
    int status = 0;

    if (!code) {
        walk->depth -= walk->depth > 0;
        return 0;
    }
    if (!abbrev) {
        cursor_fail(&walk->cursor);
        return 0;
    }
    if (abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine)
        status = walk_code(walk, abbrev, place, &node);
    else
        inside = !walk_other(walk, abbrev);
    return status == 0 && inside && abbrev->children ? enter(walk, node) : status;
}

/* Nodes of one origin are one function: its name is to be found once. */
static int number_functions(struct walk *walk)
{
    struct inline_tree *tree = walk->tree;
    struct sort_key *sorted = reallocarray(NULL, tree->count + 1, sizeof(*sorted));
    int status = sorted ? 0 : -ISOSCOPE_NO_MEMORY;

    for (uint32_t i = 0; status == 0 && i < tree->count; i++)
        sorted[i] = (struct sort_key){ walk->origins[i], i };
    if (status == 0)
        status = key_sort(sorted, tree->count);
    for (uint32_t i = 0; status == 0 && i < tree->count; i++) {
        tree->function_count += i == 0 || sorted[i].key != sorted[i - 1].key;
        tree->nodes[sorted[i].number].function = tree->function_count - 1;
    }
    free(sorted);
    return status;
}

int inline_tree_read(struct inline_tree *out, const struct unit_dies *dies)
{
    CLEANUP(inline_tree_free) struct inline_tree tree = { 0 };
    CLEANUP(walk_end)
    struct walk walk = { .dies = dies, .shape = &dies->header.shape, .tree = &tree };
    uint64_t unit_bytes = dies->header.end - dies->header.start;

    /* Range lists may be shared: a small unit could ask for any number of them. */
    walk.ranges_left = unit_bytes > RANGES_MIN ? unit_bytes : RANGES_MIN;
    walk.cursor = cursor_of((struct bytes){ dies->info.at, dies->header.end }, dies->header.die);
    if (abbrevs_read(&walk.abbrevs, dies->abbrev, dies->header.abbrevs, walk.shape) < 0)
        return -ISOSCOPE_NO_MEMORY;
    while (cursor_left(&walk.cursor))
        if (walk_die(&walk) < 0)
            return -ISOSCOPE_NO_MEMORY;
    if (number_functions(&walk) < 0 || spans_cut(&walk.spans, &tree.by_address) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *out = tree;
    tree = (struct inline_tree){ 0 };
    return 0;
}

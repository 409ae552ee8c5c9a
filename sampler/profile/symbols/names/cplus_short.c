#include "cplus_short.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A name can repeat its parts by reference, so a short one can be a tree without end. */
struct walk {
    int nodes_left;
};

enum { NODES_MAX = 20000, DEPTH_MAX = 256 };

/* Templates whose arguments after the first few are seldom written. */
static const struct {
    const char *name;
    int written;
} containers[] = {
    { "basic_string", 1 },  { "basic_string_view", 1 },  { "vector", 1 },     { "deque", 1 },
    { "list", 1 },          { "forward_list", 1 },       { "set", 1 },        { "multiset", 1 },
    { "unordered_set", 1 }, { "unordered_multiset", 1 }, { "map", 2 },        { "multimap", 2 },
    { "unordered_map", 2 }, { "unordered_multimap", 2 }, { "unique_ptr", 1 },
};

static const char *const defaults[] = { "allocator", "char_traits", "less",
                                        "equal_to",  "hash",        "default_delete" };

static struct demangle_component *left(const struct demangle_component *node)
{
    return node->u.s_binary.left;
}

static struct demangle_component *right(const struct demangle_component *node)
{
    return node->u.s_binary.right;
}

static bool is_text(const char *text, int bytes, const char *expected)
{
    return bytes == (int)strlen(expected) && !memcmp(text, expected, (size_t)bytes);
}

static bool is_name(const struct demangle_component *node, const char *expected)
{
    if (node && node->type == DEMANGLE_COMPONENT_NAME)
        return is_text(node->u.s_name.s, node->u.s_name.len, expected);
    return node && node->type == DEMANGLE_COMPONENT_SUB_STD &&
           is_text(node->u.s_string.string, node->u.s_string.len, expected);
}

/* std::expected, in whichever way it is abbreviated. */
static bool is_std(const struct demangle_component *node, const char *expected)
{
    static const char prefix[] = "std::";
    int length = (int)sizeof(prefix) - 1;

    if (node && node->type == DEMANGLE_COMPONENT_QUAL_NAME)
        return is_name(left(node), "std") && is_name(right(node), expected);
    return node && node->type == DEMANGLE_COMPONENT_SUB_STD && node->u.s_string.len > length &&
           !memcmp(node->u.s_string.string, prefix, (size_t)length) &&
           is_text(node->u.s_string.string + length, node->u.s_string.len - length, expected);
}

/* What says how a function is called, not what it is called. */
static struct demangle_component *without_type(struct demangle_component *node)
{
    while (node && (node->type == DEMANGLE_COMPONENT_TYPED_NAME ||
                    node->type == DEMANGLE_COMPONENT_TAGGED_NAME ||
                    node->type == DEMANGLE_COMPONENT_CONST_THIS ||
                    node->type == DEMANGLE_COMPONENT_VOLATILE_THIS ||
                    node->type == DEMANGLE_COMPONENT_RESTRICT_THIS ||
                    node->type == DEMANGLE_COMPONENT_REFERENCE_THIS ||
                    node->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS ||
                    node->type == DEMANGLE_COMPONENT_TRANSACTION_SAFE ||
                    node->type == DEMANGLE_COMPONENT_NOEXCEPT ||
                    node->type == DEMANGLE_COMPONENT_THROW_SPEC))
        node = left(node);
    return node;
}

/* std::__cxx11::x -> std::x */
static void drop_inline_namespace(struct demangle_component *node)
{
    struct demangle_component *space = left(node);

    if (space && space->type == DEMANGLE_COMPONENT_QUAL_NAME && is_name(left(space), "std") &&
        (is_name(right(space), "__cxx11") || is_name(right(space), "__1")))
        node->u.s_binary.left = left(space);
}

static bool is_default(const struct demangle_component *argument)
{
    if (!argument || argument->type != DEMANGLE_COMPONENT_TEMPLATE)
        return false;
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        if (is_std(left(argument), defaults[i]))
            return true;
    return false;
}

/* Cuts the list after the arguments that are written, unless somebody chose the others. */
static void drop_defaults(struct demangle_component *list, int written)
{
    struct demangle_component *last = list;

    for (int i = 1; i < written && last; i++)
        last = right(last);
    for (list = last ? right(last) : NULL; list; list = right(list))
        if (list->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST || !is_default(left(list)))
            return;
    if (last)
        last->u.s_binary.right = NULL;
}

/* basic_string<char> is called string. */
static void call_string(struct demangle_component *node)
{
    static const char string[] = "std::string";
    const struct demangle_component *list = right(node);
    struct demangle_component letter;

    if (!is_std(left(node), "basic_string") || !list || !left(list) || right(list) ||
        left(list)->type != DEMANGLE_COMPONENT_BUILTIN_TYPE ||
        !cplus_demangle_fill_builtin_type(&letter, "char") ||
        left(list)->u.s_builtin.type != letter.u.s_builtin.type)
        return;
    node->type = DEMANGLE_COMPONENT_SUB_STD;
    node->u.s_string.string = string;
    node->u.s_string.len = (int)sizeof(string) - 1;
}

static void simplify_template(struct demangle_component *node)
{
    for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++)
        if (is_std(left(node), containers[i].name))
            drop_defaults(right(node), containers[i].written);
    call_string(node);
}

static bool has_two_names(const struct demangle_component *node)
{
    return node->type == DEMANGLE_COMPONENT_QUAL_NAME ||
           node->type == DEMANGLE_COMPONENT_LOCAL_NAME ||
           node->type == DEMANGLE_COMPONENT_TEMPLATE ||
           node->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST ||
           node->type == DEMANGLE_COMPONENT_ARGLIST;
}

static bool has_one_name(const struct demangle_component *node)
{
    return node->type == DEMANGLE_COMPONENT_CLONE || node->type == DEMANGLE_COMPONENT_THUNK ||
           node->type == DEMANGLE_COMPONENT_VIRTUAL_THUNK ||
           node->type == DEMANGLE_COMPONENT_COVARIANT_THUNK ||
           node->type == DEMANGLE_COMPONENT_TRANSACTION_CLONE ||
           node->type == DEMANGLE_COMPONENT_NONTRANSACTION_CLONE ||
           node->type == DEMANGLE_COMPONENT_POINTER || node->type == DEMANGLE_COMPONENT_REFERENCE ||
           node->type == DEMANGLE_COMPONENT_RVALUE_REFERENCE ||
           node->type == DEMANGLE_COMPONENT_CONST;
}

static struct demangle_component *shorten(struct walk *walk, struct demangle_component *node,
                                          int depth)
{
    node = without_type(node);
    if (!node || depth > DEPTH_MAX || walk->nodes_left-- <= 0)
        return node;
    if (has_two_names(node) || has_one_name(node))
        node->u.s_binary.left = shorten(walk, left(node), depth + 1);
    if (has_two_names(node))
        node->u.s_binary.right = shorten(walk, right(node), depth + 1);
    if (node->type == DEMANGLE_COMPONENT_QUAL_NAME)
        drop_inline_namespace(node);
    if (node->type == DEMANGLE_COMPONENT_TEMPLATE)
        simplify_template(node);
    if (node->type == DEMANGLE_COMPONENT_LAMBDA)
        node->u.s_unary_num.sub = shorten(walk, node->u.s_unary_num.sub, depth + 1);
    return node;
}

struct demangle_component *cplus_short(struct demangle_component *name)
{
    struct walk walk = { NODES_MAX };

    return shorten(&walk, name, 0);
}

#include "demangle.h"

#include "../../../feed/cleanup.h"
#include "cplus_short.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANGLED_BYTES_MAX = 16 * 1024, /* demangling is recursive; nobody reads longer names anyway */
    TEXT_BYTES_MAX = 64 * 1024,
    OPTIONS = DMGL_PARAMS | DMGL_ANSI,
};

struct text {
    jmp_buf end; /* the only way to stop the demangler; it holds nothing while it prints */
    size_t used;
    char bytes[TEXT_BYTES_MAX];
};

static void free_memory(void **memory)
{
    free(*memory);
}

static void free_text(struct text **text)
{
    free(*text);
}

static void take_part(const char *part, size_t bytes, void *context)
{
    struct text *text = context;

    if (bytes >= TEXT_BYTES_MAX - text->used)
        longjmp(text->end, 1);
    if (!bytes) /* then part may be NULL */
        return;
    memcpy(text->bytes + text->used, part, bytes);
    text->used += bytes;
}

/* Each returns 0 when it is no such name. They are functions of their own because nothing of their
 * caller's may change between setjmp and longjmp. */
static int print_rust(const char *mangled, struct text *text)
{
    if (setjmp(text->end))
        return 0;
    return rust_demangle_callback(mangled, 0, take_part, text);
}

static int print_tree(struct demangle_component *tree, struct text *text)
{
    if (setjmp(text->end))
        return 0;
    return cplus_demangle_print_callback(OPTIONS, tree, take_part, text);
}

/* What the demangler makes no tree of: "_GLOBAL__sub_I_x". options: 0 for the name alone. */
static int print_other(const char *mangled, int options, struct text *text)
{
    if (setjmp(text->end))
        return 0;
    return cplus_demangle_v3_callback(mangled, options, take_part, text);
}

static int print_cplus(const char *mangled, bool brief, struct text *text)
{
    CLEANUP(free_memory) void *memory = NULL;
    struct demangle_component *tree = cplus_demangle_v3_components(mangled, OPTIONS, &memory);

    return tree && print_tree(brief ? cplus_short(tree) : tree, text);
}

static bool print(const char *mangled, bool brief, struct text *text)
{
    text->used = 0;
    if (print_rust(mangled, text))
        return true;
    text->used = 0;
    if (print_cplus(mangled, brief, text))
        return true;
    text->used = 0;
    return print_other(mangled, brief ? DMGL_ANSI : OPTIONS, text);
}

bool demangle_likely(const char *name)
{
    if (name[0] != '_')
        return false;
    return name[1] == 'Z' || name[1] == 'R' || !strncmp(name, "_GLOBAL_", 8);
}

char *demangle(const char *mangled, bool brief)
{
    CLEANUP(free_text) struct text *text = NULL;

    if (!demangle_likely(mangled) || strnlen(mangled, MANGLED_BYTES_MAX) == MANGLED_BYTES_MAX)
        return NULL;
    text = malloc(sizeof(*text));
    return text && print(mangled, brief, text) ? strndup(text->bytes, text->used) : NULL;
}

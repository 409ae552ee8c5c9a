#include "function_key.h"

#include "../../feed/cleanup.h"
#include "../base/index16.h"
#include "../symbols/names/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *function_key_text(struct names *texts, const char *text)
{
    return text ? names_text(texts, names_number(texts, text)) : NULL;
}

/* The name with what it is in; NULL: it is in nothing, or no memory. From malloc. */
static char *scoped_name(const struct function_source *source)
{
    char *name;

    if (!source->scope || asprintf(&name, "%s::%s", source->scope, source->source_name) < 0)
        return NULL;
    return name;
}

static void free_text(char **text)
{
    free(*text);
}

/*
 * A mangled name says nearly all: the file's last part tells apart what the units' own namespaces
 * ("anonymous") hold, and does not fall for a file that two units name in two ways.
 */
struct function_key function_key_of(struct names *texts, const struct function_source *source)
{
    const char *slash = source->mangled && source->file ? strrchr(source->file, '/') : NULL;
    CLEANUP(free_text) char *scoped = NULL;

    /* A plain name without a place could be anybody's. */
    if (!source->source_name || (!source->mangled && !source->file))
        return (struct function_key){ 0 };
    scoped = scoped_name(source); /* a lambda of a template is there for each of its instances */
    return (struct function_key){ source->module, source->line,
                                  function_key_text(texts, scoped ? scoped : source->source_name),
                                  function_key_text(texts, slash ? slash + 1 : source->file) };
}

uint64_t function_key_hash(const struct function_key *key)
{
    uint64_t hash = index16_mix((uintptr_t)key->name);

    hash = index16_mix(hash + (uintptr_t)key->file);
    return index16_mix(hash + ((uint64_t)key->module << 32 | key->line));
}

bool function_key_same(const struct function_key *a, const struct function_key *b)
{
    return a->module == b->module && a->line == b->line && a->name == b->name && a->file == b->file;
}

void function_key_names(struct names *texts, const struct function_source *source,
                        struct function *out)
{
    CLEANUP(free_text)
    char *name = source->mangled ? demangle(source->source_name, true) : scoped_name(source);
    CLEANUP(free_text)
    char *full_name = source->mangled ? demangle(source->source_name, false) : NULL;

    out->raw_name = function_key_text(texts, source->source_name);
    out->name = name ? function_key_text(texts, name) : out->raw_name;
    out->full_name = full_name ? function_key_text(texts, full_name) : out->name;
}

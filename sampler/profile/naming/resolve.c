#include "resolve.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static_assert((int)INLINE_CHAIN_MAX >= (int)LINES_FRAMES_MAX, "a chain holds what lines find");

/* What stands in for a name where the unwind data knows a function and nobody its name. */
static const char *name_by_start(struct functions *functions, const struct module *module,
                                 uint64_t start)
{
    char name[512];

    snprintf(name, sizeof(name), "%.480s+0x%" PRIx64, module->name, start);
    return functions_text(functions, name);
}

static bool find_symbol(const struct module *module, uint64_t offset, struct symbol *out)
{
    return module->symbols && symbols_find(module->symbols, offset, out);
}

static struct function_source source_of_symbol(struct functions *functions,
                                               const struct module *module,
                                               const struct symbol *symbol)
{
    struct function_source source = { .module = module->number,
                                      .start = symbol->start,
                                      .size = symbol->size,
                                      .name = symbol->name,
                                      .full_name = symbol->full_name,
                                      .raw_name = symbol->raw_name };

    if (!symbol->raw_name)
        source.name = source.raw_name = name_by_start(functions, module, symbol->start);
    return source;
}

uint32_t resolve_symbol(struct functions *functions, const struct module *module, uint64_t offset)
{
    struct function_source source;
    struct symbol symbol;

    if (!find_symbol(module, offset, &symbol))
        return 0;
    source = source_of_symbol(functions, module, &symbol);
    return functions_number(functions, &source);
}

static struct function_source source_of_line(const struct module *module,
                                             const struct line_frame *frame)
{
    return (struct function_source){
        .module = module->number,
        .start = FUNCTION_NO_START,
        .source_name = frame->linkage_name ? frame->linkage_name : frame->name,
        .mangled = frame->linkage_name != NULL,
        .scope = frame->linkage_name ? NULL : frame->scope,
        .file = frame->decl_file,
        .line = frame->decl_line,
    };
}

/* A name that is not mangled in the debug data may be so in the symbol table. */
static bool is_its_name(const struct symbol *symbol, const struct line_frame *frame)
{
    size_t bytes = strlen(symbol->name), wanted = frame->name ? strlen(frame->name) : 0;
    const char *end = symbol->name + bytes - wanted;

    if (frame->linkage_name)
        return !strcmp(frame->linkage_name, symbol->raw_name);
    if (!wanted || !strcmp(frame->name, symbol->raw_name))
        return wanted > 0;
    return symbol->name != symbol->raw_name && !strchr(symbol->raw_name, '.') && bytes >= wanted &&
           !strcmp(end, frame->name) &&
           (bytes == wanted || (bytes > wanted + 2 && !memcmp(end - 2, "::", 2)));
}

/*
 * The symbol's function, with what the source says of it. When the two do not have the same name,
 * the symbol is a copy of its own (f.isra.0) or one of several with the same code: it keeps its
 * name, and what is inlined elsewhere under the source's name is another function.
 */
static struct function_source source_of_both(struct functions *functions,
                                             const struct module *module,
                                             const struct symbol *symbol,
                                             const struct line_frame *frame)
{
    struct function_source source = source_of_line(module, frame);
    struct function_source named = source_of_symbol(functions, module, symbol);

    source.start = symbol->start;
    source.size = symbol->size;
    if (!symbol->raw_name && source.source_name)
        return source;
    source.name = named.name;
    source.full_name = named.full_name;
    source.raw_name = named.raw_name;
    if (symbol->raw_name && !is_its_name(symbol, frame))
        source.source_name = NULL;
    return source;
}

static struct chain_frame chain_frame_of(struct functions *functions,
                                         const struct function_source *source,
                                         const struct line_frame *frame)
{
    struct chain_frame out = { .function = functions_number(functions, source),
                               .line = frame->line & ((1u << 30) - 1),
                               .inlined = frame->inlined };
    struct function function = { 0 };

    if (out.function)
        functions_get(functions, out.function, &function);
    if (frame->file && (!function.file || strcmp(frame->file, function.file)))
        out.file = functions_file(functions, frame->file, NULL);
    return out;
}

uint32_t resolve_chain(struct functions *functions, const struct module *module,
                       struct lines *lines, uint64_t offset,
                       struct chain_frame out[INLINE_CHAIN_MAX])
{
    struct line_frame frames[LINES_FRAMES_MAX];
    uint32_t count = lines ? lines_find(lines, offset, frames) : 0;
    struct function_source source;
    struct symbol symbol;

    if (!count) {
        out[0] = (struct chain_frame){ .function = resolve_symbol(functions, module, offset) };
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!frames[i].inlined && find_symbol(module, offset, &symbol))
            source = source_of_both(functions, module, &symbol, &frames[i]);
        else
            source = source_of_line(module, &frames[i]);
        if (!source.source_name && !source.name)
            source.source_name = "[inlined]";
        out[i] = chain_frame_of(functions, &source, &frames[i]);
    }
    return count;
}

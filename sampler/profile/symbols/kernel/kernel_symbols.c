#include "kernel_symbols.h"

#include "../../../feed/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void close_stream(FILE **stream)
{
    if (*stream)
        fclose(*stream);
}

static void free_line(char **line)
{
    free(*line);
}

/* Code only; a small letter is a local one, w and W are weak. */
static bool is_code(char type)
{
    return strchr("tTwW", type) != NULL;
}

/* Sizes are not told: each goes up to the next one, or to the end of the kernel's own code. */
static struct elf_function function_of(const struct kernel_symbol *symbol,
                                       const struct kernel_place *place)
{
    return (struct elf_function){
        .name = symbol->name,
        .name_bytes = strlen(symbol->name),
        .start = symbol->address - place->start,
        .limit = symbol->address < place->end ? place->end - place->start : UINT64_MAX,
        .global = symbol->type == 'T',
        .weak = symbol->type == 'w' || symbol->type == 'W',
    };
}

void kernel_symbols_in(FILE *kallsyms, const struct kernel_place *place,
                       bool (*each)(void *context, const struct elf_function *function),
                       void *context)
{
    CLEANUP(free_line) char *line = NULL;
    struct kernel_symbol symbol;
    struct elf_function function;
    size_t room = 0;

    while (getline(&line, &room, kallsyms) > 0) {
        if (!kernel_symbol_read(line, &symbol) || !is_code(symbol.type) ||
            symbol.address < place->start || strcmp(symbol.library, place->library) != 0)
            continue;
        function = function_of(&symbol, place);
        if (!each(context, &function))
            return;
    }
}

static bool same_build(const struct module_file *library, const struct kernel_place *place)
{
    return library->build_id_bytes == place->build_id_bytes &&
           !memcmp(library->build_id, place->build_id, place->build_id_bytes);
}

bool kernel_symbols(const struct module_file *library,
                    bool (*each)(void *context, const struct elf_function *function), void *context,
                    const char **reason)
{
    CLEANUP(kernel_places_free) struct kernel_places places = { 0 };
    CLEANUP(close_stream) FILE *kallsyms = fopen("/proc/kallsyms", "re");
    const struct kernel_place *place;

    kernel_places_read(&places);
    place = kernel_places_named(&places, library->path);
    *reason = NULL;
    if (!kallsyms || kernel_places_hidden(&places))
        *reason =
            "the kernel hides its names: run isoscope as root, or set kernel.kptr_restrict to 0";
    else if (!place)
        *reason = "the module is not loaded any more";
    else if (!same_build(library, place))
        *reason = "another kernel runs here";
    else
        kernel_symbols_in(kallsyms, place, each, context);
    return !*reason;
}

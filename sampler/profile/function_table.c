#include "function_table.h"

#include "../include/isoscope/isoscope.h"
#include "chunk.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the array, perhaps moved, with room for one more; NULL: no memory, and nothing changed.
 */
static void *with_room(void *array, uint32_t count, uint32_t *capacity, size_t entry_bytes)
{
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    void *moved;

    if (count < *capacity)
        return array;
    moved = reallocarray(array, larger, entry_bytes);
    if (moved)
        *capacity = larger;
    return moved;
}

static struct snapshot_library library_of(const struct module *module)
{
    struct snapshot_library library = { .path = module->path,
                                        .name = module->name,
                                        .system = module->system };

    if (module->symbols)
        library.reason = symbols_reason(module->symbols);
    snprintf(library.id, sizeof(library.id), "libraries/%" PRIu32, module->number);
    memcpy(library.build_id, module->build_id_hex, sizeof(library.build_id));
    return library;
}

static int add_library(struct function_table *table, const struct module *module, uint32_t *out)
{
    struct snapshot_library *libraries = with_room(table->libraries, table->library_count,
                                                   &table->library_capacity, sizeof(*libraries));
    uint32_t *index;
    bool added;

    if (!libraries)
        return -ISOSCOPE_NO_MEMORY;
    table->libraries = libraries;
    index = map64_put(&table->by_module, module->number, &added);
    if (!index)
        return -ISOSCOPE_NO_MEMORY;
    if (added) {
        *index = table->library_count++;
        libraries[*index] = library_of(module);
    }
    *out = *index;
    return 0;
}

/* What stands in for a name where there is none. */
static int name_by_offset(struct function_table *table, const struct module *module,
                          struct symbol *symbol)
{
    char **names = with_room(table->offset_names, table->offset_name_count,
                             &table->offset_name_capacity, sizeof(char *));
    char *name;

    if (!names)
        return -ISOSCOPE_NO_MEMORY;
    table->offset_names = names;
    if (!module->number && symbol->start == FEED_FRAME_OFFSET(FEED_FRAME_GAP))
        name = strdup("[frames left out]");
    else if (asprintf(&name, "%s+0x%" PRIx64, module->name, symbol->start) < 0)
        name = NULL;
    if (!name)
        return -ISOSCOPE_NO_MEMORY;
    names[table->offset_name_count++] = name;
    symbol->name = symbol->raw_name = name;
    return 0;
}

static int fill_function(struct function_table *table, const struct module *module,
                         struct symbol symbol)
{
    struct snapshot_function *functions = with_room(table->functions, table->function_count,
                                                    &table->function_capacity, sizeof(*functions));
    struct snapshot_function function = { 0 };

    if (!functions)
        return -ISOSCOPE_NO_MEMORY;
    table->functions = functions;
    if (add_library(table, module, &function.library) < 0 ||
        (!symbol.name && name_by_offset(table, module, &symbol) < 0))
        return -ISOSCOPE_NO_MEMORY;
    snprintf(function.id, sizeof(function.id), "functions/%" PRIu32 "/%" PRIx64, module->number,
             symbol.start);
    function.name = symbol.name;
    function.raw_name = symbol.raw_name;
    functions[table->function_count] = function;
    return 0;
}

int function_table_add(struct function_table *table, uint64_t frame, uint32_t *function)
{
    struct module *module = registry_module(table->registry, PROFILE_FRAME_MODULE(frame));
    struct symbol found, symbol = { .start = PROFILE_FRAME_OFFSET(frame) };
    uint32_t *index;
    bool added;

    if (atomic_load_explicit(&module->named, memory_order_acquire)) {
        symbol.name = names_text(registry_names(table->registry), (uint32_t)symbol.start);
        symbol.raw_name = symbol.name;
    } else if (!namer_want(table->namer, module)) {
        table->pending = true;
        *function = 0;
        return 0;
    }
    if (!symbol.name && module->symbols && symbols_find(module->symbols, symbol.start, &found))
        symbol = found;
    index = map64_put(&table->by_start, PROFILE_FRAME(module->number, symbol.start), &added);
    if (!index || (added && fill_function(table, module, symbol) < 0))
        return -ISOSCOPE_NO_MEMORY;
    if (added)
        *index = table->function_count++;
    *function = *index;
    return 0;
}

void function_table_free(struct function_table *table)
{
    for (uint32_t i = 0; i < table->offset_name_count; i++)
        free(table->offset_names[i]);
    free(table->offset_names);
    free(table->functions);
    free(table->libraries);
    map64_free(&table->by_start);
    map64_free(&table->by_module);
}

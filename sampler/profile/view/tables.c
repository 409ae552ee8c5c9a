#include "tables.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "describe.h"

#include <inttypes.h>
#include <stdlib.h>

/* The worker takes what there is at a time, and puts it into an order. */
enum { ASKED_AT_ONCE = 4096, WORK_ASKED = 16 };

static struct module *module_of(const struct tables *tables, uint64_t frame)
{
    return registry_module(tables->profile->registry, FRAME_KEY_MODULE(frame));
}

static int add_library(struct tables *tables, const struct module *module, uint32_t *out)
{
    uint32_t *index;
    bool added;

    if (!GROW(tables->libraries, tables->library_count, tables->library_capacity) ||
        !(index = map64_put(&tables->by_module, module->number, &added)))
        return -ISOSCOPE_NO_MEMORY;
    if (added) {
        *index = tables->library_count++;
        describe_library(module, &tables->libraries[*index]);
    }
    *out = *index;
    return 0;
}

/* Lends the place of a new function of the module; NULL: no memory. */
static struct snapshot_function *add_function(struct tables *tables, const struct module *module,
                                              uint32_t *index)
{
    struct snapshot_function *function;
    uint32_t library;

    if (!GROW(tables->functions, tables->function_count, tables->function_capacity) ||
        add_library(tables, module, &library) < 0)
        return NULL;
    *index = tables->function_count++;
    function = &tables->functions[*index];
    *function = (struct snapshot_function){ .library = library };
    return function;
}

/* What nothing names: one function for each pc. */
static int offset_function(struct tables *tables, uint64_t frame, uint32_t *out)
{
    struct module *module = module_of(tables, frame);
    struct snapshot_function *function;
    uint32_t *index, library;
    bool added;
    char *name;

    if (!GROW(tables->offset_names, tables->offset_name_count, tables->offset_name_capacity) ||
        !(index = map64_put(&tables->by_offset, frame, &added)))
        return -ISOSCOPE_NO_MEMORY;
    if (added) {
        name = describe_offset_name(tables->profile->registry, module, FRAME_KEY_OFFSET(frame));
        function = name ? add_function(tables, module, index) : NULL;
        if (!function) {
            free(name);
            return -ISOSCOPE_NO_MEMORY;
        }
        tables->offset_names[tables->offset_name_count++] = name;
        library = function->library;
        describe_offset(module, FRAME_KEY_OFFSET(frame), name, function);
        function->library = library;
    }
    *out = *index;
    return 0;
}

static int numbered_function(struct tables *tables, uint32_t number, uint32_t *out)
{
    struct snapshot_function *place;
    const struct module *module;
    struct function function;
    uint32_t *index, library;
    bool added;

    /* By its own number: another one may be another name of it by now. */
    functions_get(tables->profile->functions, number, &function);
    index = map64_put(&tables->by_number, function.number, &added);
    if (!index)
        return -ISOSCOPE_NO_MEMORY;
    if (added) {
        module = registry_module(tables->profile->registry, function.module);
        place = add_function(tables, module, index);
        if (!place)
            return -ISOSCOPE_NO_MEMORY;
        library = place->library;
        describe_function(&function, module, place);
        place->library = library;
    }
    *out = *index;
    return 0;
}

static int add_frame(struct tables *tables, uint64_t frame, const struct chain_frame *from)
{
    struct snapshot_frame *to;
    uint32_t function;
    int error;

    if (!GROW(tables->frames, tables->frame_count, tables->frame_capacity))
        return -ISOSCOPE_NO_MEMORY;
    error = from->function ? numbered_function(tables, from->function, &function)
                           : offset_function(tables, frame, &function);
    if (error)
        return error;
    to = &tables->frames[tables->frame_count++];
    *to = (struct snapshot_frame){ .function = function,
                                   .line = from->line,
                                   .inlined = from->inlined,
                                   .file = from->file,
                                   .offset = describe_pc(module_of(tables, frame),
                                                         FRAME_KEY_OFFSET(frame)) };
    return 0;
}

static int miss(struct tables *tables, uint64_t frame)
{
    if (!GROW(tables->missing, tables->missing_count, tables->missing_capacity))
        return -ISOSCOPE_NO_MEMORY;
    tables->missing[tables->missing_count++] = frame;
    return 0;
}

/* How many frames; 0: they are not known yet. open: neither is all of those that are there. */
static int find_chain(struct tables *tables, uint64_t frame,
                      struct chain_frame out[INLINE_CHAIN_MAX], bool *open)
{
    bool asked;
    int count = (int)known_chain(&tables->profile->known, frame, out, &asked);

    *open = false;
    if (count)
        return count;
    if (!asked && miss(tables, frame) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *open = true;
    tables->pending |= asked;
    return tables->partial_names_ok ? (int)known_symbol(&tables->profile->known, frame, out) : 0;
}

/* What was there of it stays among the frames, unused: chains change once or twice. */
static int set_chain(struct tables *tables, uint64_t frame, uint32_t number,
                     const struct chain_frame *chain, int count, bool open)
{
    uint32_t first = tables->frame_count;

    for (int i = 0; i < count; i++)
        if (add_frame(tables, frame, &chain[i]) < 0)
            return -ISOSCOPE_NO_MEMORY;
    tables->chains[number] =
        (struct table_chain){ .first = first, .count = (uint32_t)count, .open = open };
    return 0;
}

static int add_chain(struct tables *tables, uint64_t frame, uint32_t number)
{
    struct chain_frame chain[INLINE_CHAIN_MAX];
    bool open;
    int count = find_chain(tables, frame, chain, &open);

    tables->chains[number] = (struct table_chain){ .first = tables->round, .open = true };
    return count > 0 ? set_chain(tables, frame, number, chain, count, open) : count;
}

static bool is_unnamed(const struct tables *tables, struct table_chain chain)
{
    return tables->functions[tables->frames[chain.first].function].kind == SNAPSHOT_UNNAMED;
}

int tables_again(struct tables *tables, uint64_t frame, uint32_t number, bool *changed)
{
    struct table_chain before = tables->chains[number];
    struct chain_frame chain[INLINE_CHAIN_MAX];
    bool open;
    int count = find_chain(tables, frame, chain, &open);

    *changed = false;
    /* First there may be the function, then its lines: nothing in between tells more. */
    if (count <= 0 || (open && before.count && (!is_unnamed(tables, before) || !chain[0].function)))
        return count < 0 ? count : 0;
    *changed = true;
    return set_chain(tables, frame, number, chain, count, open);
}

/* Not known when it was last asked for, and that was in a round before. */
static bool is_due(const struct tables *tables, struct table_chain chain)
{
    return chain.count == 0 && chain.first != tables->round;
}

int tables_add(struct tables *tables, uint64_t frame, uint32_t *number)
{
    bool added;
    uint32_t *place = map64_put(&tables->by_frame, frame, &added);

    if (!place || (added && !GROW(tables->chains, tables->chain_count, tables->chain_capacity)))
        return -ISOSCOPE_NO_MEMORY;
    if (added)
        *place = tables->chain_count++;
    if ((added || is_due(tables, tables->chains[*place])) && add_chain(tables, frame, *place) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *number = *place;
    return 0;
}

static int ask_for_some(struct tables *tables, uint32_t count)
{
    int result = symbolizer_want_frames(tables->profile->symbolizer,
                                        &tables->missing[tables->missing_asked], count);

    tables->missing_asked += count;
    tables->resolved |= result > 0;
    tables->pending |= !result;
    return result < 0 ? result : 0;
}

int tables_ask(struct tables *tables, int64_t *work)
{
    if (!tables->missing_asked)
        tables->resolved = false;
    while (tables->missing_asked < tables->missing_count) {
        uint32_t left = tables->missing_count - tables->missing_asked;
        uint32_t count = left < ASKED_AT_ONCE ? left : ASKED_AT_ONCE;

        if (*work <= 0)
            return 1;
        work_off(work, count * WORK_ASKED);
        if (ask_for_some(tables, count) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    tables->missing_count = tables->missing_asked = 0;
    tables->round++;
    return 0;
}

static void free_finders(struct tables *tables)
{
    free(tables->chains);
    free(tables->missing);
    tables->chains = NULL;
    tables->missing = NULL;
    map64_free(&tables->by_frame);
    map64_free(&tables->by_number);
    map64_free(&tables->by_offset);
    map64_free(&tables->by_module);
}

/* Gives back the room behind the last one. */
static void *trimmed(void *array, uint32_t count, size_t entry_bytes)
{
    void *smaller = count ? reallocarray(array, count, entry_bytes) : NULL;

    return smaller ? smaller : array;
}

void tables_settle(struct tables *tables)
{
    free_finders(tables);
    tables->functions =
        trimmed(tables->functions, tables->function_count, sizeof(*tables->functions));
    tables->frames = trimmed(tables->frames, tables->frame_count, sizeof(*tables->frames));
    tables->offset_names =
        trimmed(tables->offset_names, tables->offset_name_count, sizeof(*tables->offset_names));
}

static void clear(struct tables *tables)
{
    for (uint32_t i = 0; i < tables->offset_name_count; i++)
        free(tables->offset_names[i]);
    free(tables->offset_names);
    free(tables->functions);
    free(tables->libraries);
    free(tables->frames);
    free_finders(tables);
}

void tables_free(struct tables *tables)
{
    clear(tables);
    *tables =
        (struct tables){ .profile = tables->profile, .partial_names_ok = tables->partial_names_ok };
}

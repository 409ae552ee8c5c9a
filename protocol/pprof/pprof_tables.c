#include "pprof_tables.h"

#include "pprof_fields.h"
#include "../text/protobuf.h"

#include <stdlib.h>

static const char *path_of(const struct snapshot_library *library)
{
    return library->path && library->path[0] ? library->path : library->name;
}

uint32_t pprof_string(struct pprof_tables *tables, const char *text)
{
    bool added;

    if (!tables->strings.count) /* number 0 is to be "" */
        interned_put(&tables->strings, "", 0, &added);
    return text ? interned_put(&tables->strings, text, strlen(text), &added) : 0;
}

/* A field of 0 is left out: that is what a reader takes it for. */
static void put_uint(struct pprof_tables *tables, uint32_t field, uint64_t value)
{
    if (value)
        protobuf_uint(&tables->bytes, field, value);
}

static void put_string(struct pprof_tables *tables, uint32_t field, const char *text)
{
    put_uint(tables, field, pprof_string(tables, text));
}

static void put_mapping(struct pprof_tables *tables, uint32_t id,
                        const struct snapshot_library *library)
{
    const struct pprof_place *place = pprof_place_of(tables->places, library);
    size_t message = protobuf_begin(&tables->bytes, PROFILE_MAPPING);

    put_uint(tables, MAPPING_ID, id);
    if (place) {
        put_uint(tables, MAPPING_MEMORY_START, place->start);
        put_uint(tables, MAPPING_MEMORY_LIMIT, place->limit);
        put_uint(tables, MAPPING_FILE_OFFSET, place->file_offset);
    }
    put_string(tables, MAPPING_FILENAME, path_of(library));
    put_string(tables, MAPPING_BUILD_ID, library->build_id);
    /* Nothing is left for a reader to look up. */
    for (uint32_t has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINE_FRAMES; has++)
        put_uint(tables, has, 1);
    protobuf_end(&tables->bytes, message);
}

static uint32_t mapping_of(struct pprof_tables *tables, const struct snapshot_library *library)
{
    bool added;
    uint32_t number = interned_put(&tables->mappings, library->id, strlen(library->id), &added);

    if (added)
        put_mapping(tables, number + 1, library);
    return number + 1;
}

static void put_function(struct pprof_tables *tables, uint32_t id,
                         const struct snapshot_function *function)
{
    size_t message = protobuf_begin(&tables->bytes, PROFILE_FUNCTION);

    put_uint(tables, FUNCTION_ID, id);
    put_string(tables, FUNCTION_NAME, function->name);
    put_string(tables, FUNCTION_SYSTEM_NAME, function->full_name);
    put_string(tables, FUNCTION_FILENAME, function->file);
    put_uint(tables, FUNCTION_START_LINE, function->line);
    protobuf_end(&tables->bytes, message);
}

static uint32_t function_of(struct pprof_tables *tables, uint32_t index)
{
    const struct snapshot_function *function = &tables->snapshot_functions[index];
    uint32_t number = tables->of_function[index];
    bool added;

    if (number)
        return number;
    number = interned_put(&tables->functions, function->id, strlen(function->id), &added) + 1;
    if (added)
        put_function(tables, number, function);
    if (added)
        pprof_places_met(tables->places, &tables->snapshot_libraries[function->library], function);
    tables->of_function[index] = number;
    return number;
}

/* Its lines, the innermost first, and in front what else makes it a location of its own. */
static void put_key(struct pprof_tables *tables, const uint32_t *frames, uint32_t count)
{
    const struct snapshot_frame *outer = &tables->snapshot_frames[frames[count - 1]];
    const struct snapshot_library *library =
        &tables->snapshot_libraries[tables->snapshot_functions[outer->function].library];
    uint64_t address = pprof_address(tables->places, library, outer->offset);

    tables->key.length = 0;
    protobuf_uint(&tables->key, LOCATION_MAPPING_ID, mapping_of(tables, library));
    if (address)
        protobuf_uint(&tables->key, LOCATION_ADDRESS, address);
    for (uint32_t i = 0; i < count; i++) {
        const struct snapshot_frame *frame = &tables->snapshot_frames[frames[i]];
        uint32_t function = function_of(tables, frame->function);
        size_t line = protobuf_begin(&tables->key, LOCATION_LINE);

        protobuf_uint(&tables->key, LINE_FUNCTION_ID, function);
        if (frame->line)
            protobuf_uint(&tables->key, LINE_LINE, frame->line);
        protobuf_end(&tables->key, line);
    }
}

/* The one whose fields are the key. */
static uint32_t location_of_key(struct pprof_tables *tables)
{
    bool added;
    uint32_t number =
        interned_put(&tables->locations, tables->key.data, tables->key.length, &added) + 1;

    if (added) {
        size_t message = protobuf_begin(&tables->bytes, PROFILE_LOCATION);

        put_uint(tables, LOCATION_ID, number);
        json_text_raw(&tables->bytes, tables->key.data, tables->key.length);
        protobuf_end(&tables->bytes, message);
    }
    return number;
}

uint32_t pprof_location(struct pprof_tables *tables, const uint32_t *frames, uint32_t depth,
                        uint32_t *used)
{
    uint32_t count = 1, *known = &tables->of_frame[frames[0]];

    while (count < depth && tables->snapshot_frames[frames[count - 1]].inlined)
        count++;
    *used = count;
    if (*known)
        return *known;
    put_key(tables, frames, count);
    if (tables->key.failed)
        return 0;
    *known = location_of_key(tables);
    return *known;
}

uint32_t pprof_location_named(struct pprof_tables *tables, const char *name)
{
    const struct snapshot_function function = { .name = name, .full_name = name };
    bool added;
    uint32_t number = interned_put(&tables->functions, name, strlen(name), &added) + 1;
    size_t line;

    if (added)
        put_function(tables, number, &function);
    tables->key.length = 0;
    line = protobuf_begin(&tables->key, LOCATION_LINE);
    protobuf_uint(&tables->key, LINE_FUNCTION_ID, number);
    protobuf_end(&tables->key, line);
    return tables->key.failed ? 0 : location_of_key(tables);
}

static void close_snapshot(struct pprof_tables *tables)
{
    free(tables->of_function);
    free(tables->of_frame);
    tables->of_function = tables->of_frame = NULL;
}

/* Readers take the first mapping for the program's. */
static void put_program(struct pprof_tables *tables, uint32_t count, const char *program)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(path_of(&tables->snapshot_libraries[i]), program))
            mapping_of(tables, &tables->snapshot_libraries[i]);
}

void pprof_tables_open(struct pprof_tables *tables, struct snapshot *snapshot, const char *program)
{
    uint32_t functions, frames, libraries;

    close_snapshot(tables);
    tables->snapshot_functions = snapshot_functions(snapshot, &functions);
    tables->snapshot_frames = snapshot_frames(snapshot, &frames);
    tables->snapshot_libraries = snapshot_libraries(snapshot, &libraries);
    tables->of_function = calloc((size_t)functions + 1, sizeof(*tables->of_function));
    tables->of_frame = calloc((size_t)frames + 1, sizeof(*tables->of_frame));
    tables->failed |= !tables->of_function || !tables->of_frame;
    put_program(tables, libraries, program);
}

bool pprof_tables_failed(const struct pprof_tables *tables)
{
    return tables->failed || tables->bytes.failed || tables->key.failed || tables->strings.failed ||
           tables->mappings.failed || tables->functions.failed || tables->locations.failed;
}

void pprof_tables_free(struct pprof_tables *tables)
{
    close_snapshot(tables);
    interned_free(&tables->strings);
    interned_free(&tables->mappings);
    interned_free(&tables->functions);
    interned_free(&tables->locations);
    json_text_free(&tables->bytes);
    json_text_free(&tables->key);
}

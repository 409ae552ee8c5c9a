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
    return interned_string(&tables->strings, text);
}

struct otlp_dictionary pprof_dictionary(struct pprof_tables *tables)
{
    return (struct otlp_dictionary){ &tables->strings, &tables->attributes, &tables->bytes,
                                     &tables->entry };
}

/* A field of 0 is left out: that is what a reader takes it for. So is one that does not exist. */
static void put_uint(struct json_text *bytes, uint32_t field, uint64_t value)
{
    if (value && field)
        protobuf_uint(bytes, field, value);
}

static void put_string(struct json_text *bytes, struct pprof_tables *tables, uint32_t field,
                       const char *text)
{
    if (field)
        put_uint(bytes, field, pprof_string(tables, text));
}

static void put_attribute(struct json_text *bytes, uint32_t field, uint32_t attribute)
{
    size_t list;

    if (!attribute)
        return;
    list = protobuf_begin(bytes, field);
    protobuf_packed(bytes, attribute);
    protobuf_end(bytes, list);
}

static void put_mapping(struct pprof_tables *tables, uint32_t id,
                        const struct snapshot_library *library)
{
    const struct pprof_place *place = pprof_place_of(tables->places, library);
    const struct table_fields *fields = tables->fields;
    uint32_t build_id = 0;
    size_t message;

    if (fields->mapping_attributes && library->build_id[0])
        build_id = otlp_attribute(pprof_dictionary(tables), "process.executable.build_id.gnu",
                                  library->build_id, 0);
    message = protobuf_begin(&tables->bytes, fields->mapping);
    put_uint(&tables->bytes, fields->mapping_id, id);
    if (place) {
        put_uint(&tables->bytes, fields->mapping_start, place->start);
        put_uint(&tables->bytes, fields->mapping_limit, place->limit);
        put_uint(&tables->bytes, fields->mapping_offset, place->file_offset);
    }
    put_string(&tables->bytes, tables, fields->mapping_filename, path_of(library));
    put_string(&tables->bytes, tables, fields->mapping_build_id, library->build_id);
    put_attribute(&tables->bytes, fields->mapping_attributes, build_id);
    /* Nothing is left for a reader to look up. */
    for (uint32_t has = fields->mapping_has_first; has && has <= fields->mapping_has_last; has++)
        put_uint(&tables->bytes, has, 1);
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

static void compose_function(struct pprof_tables *tables, uint32_t id,
                             const struct snapshot_function *function)
{
    const struct table_fields *fields = tables->fields;
    struct json_text *entry = &tables->entry;

    entry->length = 0;
    put_uint(entry, fields->function_id, id);
    put_string(entry, tables, fields->function_name, function->name);
    put_string(entry, tables, fields->function_system_name, function->full_name);
    put_string(entry, tables, fields->function_filename, function->file);
    put_uint(entry, fields->function_line, function->line);
}

/* In pprof's profiles a function is one by its number. In OTLP's, where none has a number, those that
 * say the same are one. */
static uint32_t number_of_function(struct pprof_tables *tables, const char *id,
                                   const struct snapshot_function *function)
{
    bool added, numbered = tables->fields->function_id != 0;
    uint32_t number;

    if (!numbered)
        compose_function(tables, 0, function);
    if (tables->entry.failed)
        return 0;
    number = interned_put(&tables->functions, numbered ? id : tables->entry.data,
                          numbered ? strlen(id) : tables->entry.length, &added) +
             1;
    if (!added)
        return number;
    if (numbered)
        compose_function(tables, number, function);
    protobuf_head(&tables->bytes, tables->fields->function, tables->entry.length);
    json_text_raw(&tables->bytes, tables->entry.data, tables->entry.length);
    return number;
}

static uint32_t function_of(struct pprof_tables *tables, uint32_t index)
{
    const struct snapshot_function *function = &tables->snapshot_functions[index];
    uint32_t known = tables->functions.count, *number = &tables->of_function[index];

    if (*number)
        return *number;
    *number = number_of_function(tables, function->id, function);
    if (tables->functions.count > known)
        pprof_places_met(tables->places, &tables->snapshot_libraries[function->library], function);
    return *number;
}

/* Its lines, the innermost first, and in front what else makes it a location of its own. */
static void put_key(struct pprof_tables *tables, const uint32_t *frames, uint32_t count)
{
    const struct snapshot_frame *outer = &tables->snapshot_frames[frames[count - 1]];
    const struct snapshot_library *library =
        &tables->snapshot_libraries[tables->snapshot_functions[outer->function].library];
    uint64_t address = pprof_address(tables->places, library, outer->offset);

    tables->key.length = 0;
    protobuf_uint(&tables->key, tables->fields->location_mapping, mapping_of(tables, library));
    if (address)
        protobuf_uint(&tables->key, tables->fields->location_address, address);
    if (tables->fields->location_attributes)
        put_attribute(&tables->key, tables->fields->location_attributes,
                      otlp_frame_type(pprof_dictionary(tables), library));
    for (uint32_t i = 0; i < count; i++) {
        const struct snapshot_frame *frame = &tables->snapshot_frames[frames[i]];
        uint32_t function = function_of(tables, frame->function);
        size_t line = protobuf_begin(&tables->key, tables->fields->location_line);

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
        size_t message = protobuf_begin(&tables->bytes, tables->fields->location);

        put_uint(&tables->bytes, tables->fields->location_id, number);
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
    uint32_t number = number_of_function(tables, name, &function);
    size_t line;

    tables->key.length = 0;
    line = protobuf_begin(&tables->key, tables->fields->location_line);
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
    return tables->failed || tables->bytes.failed || tables->key.failed || tables->entry.failed ||
           tables->strings.failed || tables->mappings.failed || tables->functions.failed ||
           tables->locations.failed || tables->attributes.failed;
}

void pprof_tables_free(struct pprof_tables *tables)
{
    close_snapshot(tables);
    interned_free(&tables->strings);
    interned_free(&tables->mappings);
    interned_free(&tables->functions);
    interned_free(&tables->locations);
    interned_free(&tables->attributes);
    json_text_free(&tables->bytes);
    json_text_free(&tables->key);
    json_text_free(&tables->entry);
}

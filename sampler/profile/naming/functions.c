#include "functions.h"

#include "../../include/isoscope/isoscope.h"
#include "../store/frame.h"
#include "functions_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int functions_new(struct functions **out)
{
    struct functions *functions = calloc(1, sizeof(*functions));

    if (!functions || names_new(&functions->texts) < 0 || names_new(&functions->paths) < 0) {
        if (functions)
            names_free(functions->texts);
        free(functions);
        return -ISOSCOPE_NO_MEMORY;
    }
    pthread_mutex_init(&functions->lock, NULL);
    functions->count = 1;
    *out = functions;
    return 0;
}

void functions_free(struct functions *functions)
{
    if (!functions)
        return;
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(functions->blocks[i]);
    map64_free(&functions->by_start);
    map64_free(&functions->by_source);
    function_files_free(&functions->files);
    names_free(functions->texts);
    names_free(functions->paths);
    pthread_mutex_destroy(&functions->lock);
    free(functions);
}

const char *functions_text(struct functions *functions, const char *wanted)
{
    const char *kept;

    pthread_mutex_lock(&functions->lock);
    kept = function_key_text(functions->texts, wanted);
    pthread_mutex_unlock(&functions->lock);
    return kept;
}

const char *functions_file(struct functions *functions, const char *path, uint32_t *number)
{
    uint32_t found;
    const char *kept;

    pthread_mutex_lock(&functions->lock);
    found = path ? names_number(functions->paths, path) : 0;
    kept = names_text(functions->paths, found);
    pthread_mutex_unlock(&functions->lock);
    if (number)
        *number = found;
    return kept;
}

uint32_t *functions_place_of_key(struct functions *functions, const struct function_key *key)
{
    for (uint64_t hash = function_key_hash(key);; hash++) {
        bool added;
        uint32_t *number = map64_put(&functions->by_source, hash, &added);

        if (!number || !*number || function_key_same(&record_at(functions, *number)->key, key))
            return number;
    }
}

/* False: no room for the texts. */
static bool set_names(struct functions *functions, struct function *function,
                      const struct function_source *source)
{
    if (source->name) {
        function->name = source->name;
        function->raw_name = source->raw_name;
        function->full_name = source->full_name ? source->full_name : source->name;
    } else {
        function_key_names(functions->texts, source, function);
    }
    return function->name && function->raw_name && function->full_name;
}

static void set_place(struct functions *functions, struct function *function,
                      const struct function_source *source)
{
    function->file_number = names_number(functions->paths, source->file);
    function->file = names_text(functions->paths, function->file_number);
    function->line = source->line;
}

/* Of one whose file was not known. */
static void learn_place(struct functions *functions, struct function *function,
                        const struct function_source *source)
{
    if (function->file || !source->file)
        return;
    function_files_take_away(&functions->files, function);
    set_place(functions, function, source);
    function_files_put(&functions->files, function);
    mark_changed(functions, record_at(functions, function->number));
}

static void put_id(char id[FUNCTION_ID_BYTES], uint32_t module, uint64_t start)
{
    snprintf(id, FUNCTION_ID_BYTES, "functions/%" PRIu32 "/%" PRIx64, module, start);
}

void function_put_id(struct function *function, bool by_number)
{
    if (by_number)
        snprintf(function->id, sizeof(function->id), "functions/%" PRIu32 "/i%" PRIu32,
                 function->module, function->number);
    else
        put_id(function->id, function->module, function->start);
}

static uint32_t add_function(struct functions *functions, const struct function_source *source)
{
    uint32_t number = functions->count;
    struct record **block = &functions->blocks[number / BLOCK_RECORDS];
    struct function function = {
        .number = number, .module = source->module, .start = source->start, .size = source->size
    };

    if (number >= FUNCTIONS_MAX ||
        (!*block && !(*block = calloc(BLOCK_RECORDS, sizeof(**block)))) ||
        !set_names(functions, &function, source))
        return 0;
    if (source->file)
        set_place(functions, &function, source);
    function_put_id(&function, source->start == FUNCTION_NO_START);
    *record_at(functions, number) =
        (struct record){ .function = function, .of_source = !source->name };
    mark_changed(functions, record_at(functions, number));
    function_files_put(&functions->files, &function);
    functions->count++;
    return number;
}

/* Two lambdas of one line: the debug data has one key for both, the symbol table two names. */
static bool is_another(const struct functions *functions, uint32_t number,
                       const struct function_source *source)
{
    const struct function *there = number ? &record_at(functions, number)->function : NULL;

    return there && !source->mangled && source->start != FUNCTION_NO_START &&
           there->start != FUNCTION_NO_START && there->start != source->start && source->raw_name &&
           strcmp(there->raw_name, source->raw_name);
}

/* The record of the start or of the key, whichever is there; the two made one when both are. */
static uint32_t find_or_add(struct functions *functions, const struct function_source *source,
                            uint32_t by_start, uint32_t by_key)
{
    by_start = root_of(functions, by_start);
    by_key = root_of(functions, by_key);
    if (by_start && by_key && by_start != by_key) {
        record_at(functions, by_start)->same_as = by_key;
        mark_changed(functions, record_at(functions, by_start));
        function_files_take_away(&functions->files, &record_at(functions, by_start)->function);
    }
    if (by_key)
        return by_key;
    return by_start ? by_start : add_function(functions, source);
}

static uint32_t number_of(struct functions *functions, const struct function_source *source)
{
    struct function_key key = function_key_of(functions->texts, source);
    uint32_t *of_key = key.name ? functions_place_of_key(functions, &key) : NULL;
    uint32_t *of_start = NULL, number;
    struct record *record;
    bool added;

    if (source->start != FUNCTION_NO_START)
        of_start =
            map64_put(&functions->by_start, FRAME_KEY(source->module, source->start), &added);
    if (of_key && is_another(functions, root_of(functions, *of_key), source))
        of_key = NULL;
    number = find_or_add(functions, source, of_start ? *of_start : 0, of_key ? *of_key : 0);
    if (!number)
        return 0;
    record = record_at(functions, number);
    if (record->function.start == FUNCTION_NO_START && source->start != FUNCTION_NO_START) {
        record->function.start = source->start;
        record->function.size = source->size;
        mark_changed(functions, record);
    }
    /* A symbol tells more: which of several lambdas, and its parameters. */
    if (record->of_source && source->name) {
        record->of_source = !set_names(functions, &record->function, source);
        mark_changed(functions, record);
    }
    learn_place(functions, &record->function, source);
    if (of_start)
        *of_start = number;
    /* A record has one key: what two keys share is known by its start. */
    if (of_key && !*of_key && !record->key.name) {
        *of_key = number;
        record->key = key;
    }
    return number;
}

uint32_t functions_number(struct functions *functions, const struct function_source *source)
{
    uint32_t number;

    pthread_mutex_lock(&functions->lock);
    number = number_of(functions, source);
    pthread_mutex_unlock(&functions->lock);
    return number;
}

void functions_get(struct functions *functions, uint32_t number, struct function *out)
{
    pthread_mutex_lock(&functions->lock);
    *out = record_at(functions, root_of(functions, number))->function;
    pthread_mutex_unlock(&functions->lock);
}

/* 0: no record has the id. An id has one spelling. */
static uint32_t number_of_id(const struct functions *functions, const char *id)
{
    char spelled[FUNCTION_ID_BYTES];
    uint32_t module, number;
    uint64_t start;

    if (sscanf(id, "functions/%" SCNu32 "/i%" SCNu32, &module, &number) == 2)
        return find_record(functions, number) &&
                       !strcmp(record_at(functions, number)->function.id, id)
                   ? number
                   : 0;
    if (sscanf(id, "functions/%" SCNu32 "/%" SCNx64, &module, &start) != 2)
        return 0;
    put_id(spelled, module, start);
    if (strcmp(spelled, id))
        return 0;
    return map64_find(&functions->by_start, FRAME_KEY(module, start));
}

bool functions_find(struct functions *functions, const char *id, struct function *out)
{
    uint32_t number;
    bool found;

    pthread_mutex_lock(&functions->lock);
    number = number_of_id(functions, id);
    found = number != 0;
    if (found)
        *out = record_at(functions, root_of(functions, number))->function;
    pthread_mutex_unlock(&functions->lock);
    return found;
}

uint32_t functions_files(struct functions *functions, uint32_t from, struct function_file *out,
                         uint32_t capacity)
{
    uint32_t count = 0;

    pthread_mutex_lock(&functions->lock);
    for (; count < capacity && from + count < functions->files.count; count++)
        out[count] = functions->files.list[from + count];
    pthread_mutex_unlock(&functions->lock);
    return count;
}

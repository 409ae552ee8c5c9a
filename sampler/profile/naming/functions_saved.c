#include "functions.h"

#include "../store/frame.h"
#include "functions_table.h"

#include <stdlib.h>
#include <string.h>

uint32_t functions_changed(struct functions *functions, uint64_t version, uint32_t after,
                           struct function *out, uint32_t *root)
{
    const struct record *record;
    uint32_t number;

    pthread_mutex_lock(&functions->lock);
    for (number = after + 1; number < functions->count; number++) {
        record = find_record(functions, number);
        if (!record || record->version <= version)
            continue;
        *out = record->function;
        *root = root_of(functions, number);
        break;
    }
    if (number >= functions->count)
        number = 0;
    pthread_mutex_unlock(&functions->lock);
    return number;
}

bool functions_has(struct functions *functions, uint32_t number)
{
    bool has;

    pthread_mutex_lock(&functions->lock);
    has = find_record(functions, number);
    pthread_mutex_unlock(&functions->lock);
    return has;
}

uint64_t functions_version(struct functions *functions)
{
    uint64_t version;

    pthread_mutex_lock(&functions->lock);
    version = functions->version;
    pthread_mutex_unlock(&functions->lock);
    return version;
}

const char *functions_file_path(struct functions *functions, uint32_t number)
{
    return names_text(functions->paths, number);
}

uint32_t functions_file_end(struct functions *functions)
{
    return names_end(functions->paths);
}

bool functions_put_file(struct functions *functions, uint32_t number, const char *path)
{
    bool put;

    pthread_mutex_lock(&functions->lock);
    put = names_put(functions->paths, number, path);
    pthread_mutex_unlock(&functions->lock);
    return put;
}

static bool put_texts(struct functions *functions, struct function *function)
{
    function->name = function_key_text(functions->texts, function->name);
    function->full_name = function_key_text(functions->texts, function->full_name);
    function->raw_name = function_key_text(functions->texts, function->raw_name);
    function->file = names_text(functions->paths, function->file_number);
    return function->name && function->full_name && function->raw_name &&
           (function->file || !function->file_number);
}

/* So that another file's, which may start elsewhere, is found to be the same. */
static void put_key(struct functions *functions, struct record *record)
{
    const struct function *function = &record->function;
    const struct function_source source = {
        .module = function->module,
        .source_name = function->raw_name,
        .mangled = !strncmp(function->raw_name, "_Z", 2) || !strncmp(function->raw_name, "_R", 2),
        .file = function->file,
        .line = function->line,
    };
    const struct function_key key = function_key_of(functions->texts, &source);
    uint32_t *place = key.name ? functions_place_of_key(functions, &key) : NULL;

    if (!place || *place)
        return;
    *place = function->number;
    record->key = key;
}

/* Found again by where it starts, and by its name and place. One that is put again says more. */
static bool put_record(struct functions *functions, const struct function *from)
{
    struct record **block = &functions->blocks[from->number / BLOCK_RECORDS];
    struct record *there = find_record(functions, from->number);
    struct function function = *from;
    uint32_t *of_start = NULL;
    bool added;

    if ((!*block && !(*block = calloc(BLOCK_RECORDS, sizeof(**block)))) ||
        !put_texts(functions, &function) ||
        (function.start != FUNCTION_NO_START &&
         !(of_start = map64_put(&functions->by_start, FRAME_KEY(function.module, function.start),
                                &added))))
        return false;
    if (there)
        function_files_take_away(&functions->files, &there->function);
    if (of_start && !*of_start)
        *of_start = function.number;
    record_at(functions, function.number)->function = function;
    put_key(functions, record_at(functions, function.number));
    mark_changed(functions, record_at(functions, function.number));
    function_files_put(&functions->files, &function);
    if (function.number >= functions->count)
        functions->count = function.number + 1;
    return true;
}

bool functions_put(struct functions *functions, const struct function *function)
{
    bool put;

    if (!function->number || function->number >= FUNCTIONS_MAX)
        return false;
    pthread_mutex_lock(&functions->lock);
    put = put_record(functions, function);
    pthread_mutex_unlock(&functions->lock);
    return put;
}

bool functions_put_same(struct functions *functions, uint32_t number, uint32_t root)
{
    const struct record *there;
    struct record *record;
    bool put;

    pthread_mutex_lock(&functions->lock);
    record = find_record(functions, number);
    there = find_record(functions, root);
    put = record && there &&
          (root_of(functions, number) == root_of(functions, root) ||
           (!record->same_as && root_of(functions, root) != number));
    if (put && root_of(functions, number) != root_of(functions, root)) {
        function_files_take_away(&functions->files, &record->function);
        record->same_as = root;
        mark_changed(functions, record);
    }
    pthread_mutex_unlock(&functions->lock);
    return put;
}

#include "function_files.h"

#include "functions.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

static uint64_t key_of(const struct function *function)
{
    return (uint64_t)function->module << 32 | function->file_number;
}

static bool make_room(struct function_files *files)
{
    uint32_t larger = files->capacity ? 2 * files->capacity : FIRST_CAPACITY;
    struct function_file *list;

    if (files->count < files->capacity)
        return true;
    list = reallocarray(files->list, larger, sizeof(*list));
    if (!list)
        return false;
    files->list = list;
    files->capacity = larger;
    return true;
}

void function_files_put(struct function_files *files, const struct function *function)
{
    uint32_t *place;
    bool added;

    if (!make_room(files) || !(place = map64_put(&files->by_key, key_of(function), &added)))
        return;
    if (added) {
        files->list[files->count++] =
            (struct function_file){ function->module, function->file_number, function->file, 0 };
        *place = files->count;
    }
    files->list[*place - 1].functions++;
}

void function_files_take_away(struct function_files *files, const struct function *function)
{
    uint32_t place = map64_find(&files->by_key, key_of(function));

    if (place)
        files->list[place - 1].functions--;
}

void function_files_free(struct function_files *files)
{
    free(files->list);
    map64_free(&files->by_key);
    *files = (struct function_files){ 0 };
}

#include "function_entry.h"

#include "../../naming/registry.h"

#include <string.h>

static const char *const columns[] = { "number", "module",   "start",   "size", "byNumber",
                                       "name",   "fullName", "rawName", "file", "line" };
enum { NUMBER, MODULE, START, SIZE, BY_NUMBER, NAME, FULL_NAME, RAW_NAME, FILE_, LINE, COLUMNS };

_Static_assert(sizeof(columns) / sizeof(columns[0]) == COLUMNS, "a name each");

/* Texts that are the name again are null. */
static json_t *other_text(const char *text, const char *name)
{
    return strcmp(text, name) ? entry_text_of(text) : json_null();
}

static bool is_by_number(const struct function *function)
{
    return strstr(function->id, "/i") != NULL;
}

static void write_function(const struct function *function, json_t *const *lists)
{
    bool starts = function->start != FUNCTION_NO_START;

    json_array_append_new(lists[NUMBER], json_integer(function->number));
    json_array_append_new(lists[MODULE], json_integer(function->module));
    json_array_append_new(lists[START], starts ? entry_uint_of(function->start) : json_null());
    json_array_append_new(lists[SIZE], entry_uint_of(function->size));
    json_array_append_new(lists[BY_NUMBER], json_integer(is_by_number(function)));
    json_array_append_new(lists[NAME], entry_text_of(function->name));
    json_array_append_new(lists[FULL_NAME], other_text(function->full_name, function->name));
    json_array_append_new(lists[RAW_NAME], other_text(function->raw_name, function->name));
    json_array_append_new(lists[FILE_], json_integer(function->file_number));
    json_array_append_new(lists[LINE], json_integer(function->line));
}

/* [number, path] of those that came since. */
static json_t *write_files(struct functions *functions, struct functions_told *told)
{
    uint32_t end = functions_file_end(functions);
    json_t *list = json_array();

    for (uint32_t number = told->files + 1; number < end; number++)
        if (functions_file_path(functions, number))
            json_array_append_new(list,
                                  json_pack("[i, o]", (int)number,
                                            entry_text_of(functions_file_path(functions, number))));
    told->files = end ? end - 1 : 0;
    return list;
}

/* The next ones; told->number is 0 when there are no more. */
static void write_changed(struct functions *functions, struct functions_told *told,
                          json_t *const *lists)
{
    struct function function;
    uint32_t root;

    for (uint32_t count = 0; count < FUNCTIONS_AT_ONCE; count++) {
        told->number = functions_changed(functions, told->version, told->number, &function, &root);
        if (!told->number)
            return;
        write_function(&function, lists);
    }
}

/* Of all that had changed: when every function that they name has been told. */
static json_t *write_same(struct functions *functions, uint64_t version)
{
    json_t *same = json_array();
    struct function function;
    uint32_t number = 0, root;

    while ((number = functions_changed(functions, version, number, &function, &root)))
        if (root != number)
            json_array_append_new(same, json_pack("[i, i]", (int)number, (int)root));
    return same;
}

json_t *function_entry_write(struct functions *functions, struct functions_told *told, bool *failed)
{
    json_t *object, *lists[COLUMNS], *same, *lists_of;

    *failed = false;
    if (!told->number) {
        told->until = functions_version(functions);
        if (told->until == told->version && told->files + 1 >= functions_file_end(functions))
            return NULL;
    }
    lists_of = json_object();
    for (int i = 0; i < COLUMNS; i++)
        json_object_set_new(lists_of, columns[i], lists[i] = json_array());
    write_changed(functions, told, lists);
    same = told->number ? json_array() : write_same(functions, told->version);
    if (!told->number)
        told->version = told->until;
    /* After the functions: theirs are among them. */
    object = json_pack("{s:o, s:o, s:o}", "files", write_files(functions, told), "functions",
                       lists_of, "same", same);
    *failed = !object;
    return object;
}

static void read_file(struct entry *entry, const json_t *pair, struct functions *functions,
                      struct function_numbers *numbers)
{
    uint32_t number = (uint32_t)entry_int_at(entry, "files", pair, 0, 1, NAMES_MAX - 1), here;
    const char *path = json_string_value(json_array_get(pair, 1));
    uint32_t *place;
    bool added;

    if (!path)
        entry_fail(entry, "'files' has one without a path");
    if (entry->bad)
        return;
    if (!numbers->keep || !functions_put_file(functions, number, path))
        functions_file(functions, path, &here);
    else
        here = number;
    place = here ? map64_put(&numbers->files, number, &added) : NULL;
    if (place)
        *place = here;
    else
        entry_fail(entry, "there is no room for another file's name");
}

/* The lists of an object, and how long they all are. */
static size_t read_lists(struct entry *entry, const json_t *lists[COLUMNS])
{
    struct entry object = *entry;
    size_t count = 0;

    object.object = entry_object(entry, "functions");
    for (int i = 0; i < COLUMNS; i++) {
        lists[i] = object.object ? entry_list(&object, columns[i]) : NULL;
        if (i == 0)
            count = json_array_size(lists[i]);
        if (json_array_size(lists[i]) != count)
            entry_fail(&object, "'functions': '%s' is not as long as '%s'", columns[i], columns[0]);
    }
    entry->bad |= object.bad;
    return count;
}

static const char *text_at(struct entry *entry, const json_t *const *lists, int column, size_t at)
{
    const json_t *value = json_array_get(lists[column], at);

    if (!json_is_null(value) && !json_is_string(value))
        entry_fail(entry, "'%s' is no text", columns[column]);
    return json_string_value(value);
}

static int64_t number_at(struct entry *entry, const json_t *const *lists, int column, size_t at,
                         int64_t most)
{
    return entry_int_at(entry, columns[column], lists[column], at, 0, most);
}

static void read_texts(struct entry *entry, const json_t *const *lists, size_t at,
                       struct function *out)
{
    out->name = text_at(entry, lists, NAME, at);
    out->full_name = text_at(entry, lists, FULL_NAME, at);
    out->raw_name = text_at(entry, lists, RAW_NAME, at);
    if (!out->name)
        entry_fail(entry, "'name' is no text");
    if (!out->full_name)
        out->full_name = out->name;
    if (!out->raw_name)
        out->raw_name = out->name;
}

/* With the profile's module and file. */
static void read_function(struct entry *entry, const json_t *const *lists, size_t at,
                          const struct function_numbers *numbers, struct function *out,
                          bool *by_number)
{
    uint64_t file = (uint64_t)number_at(entry, lists, FILE_, at, NAMES_MAX - 1);
    int64_t module = number_at(entry, lists, MODULE, at, MODULES_MAX);
    bool starts = !json_is_null(json_array_get(lists[START], at));

    *out = (struct function){
        .number = (uint32_t)number_at(entry, lists, NUMBER, at, FUNCTIONS_MAX - 1),
        .module = numbers->modules[module],
        .start = starts ? (uint64_t)number_at(entry, lists, START, at, (INT64_C(1) << 48) - 1)
                        : FUNCTION_NO_START,
        .size = (uint64_t)number_at(entry, lists, SIZE, at, INT64_MAX),
        .file_number = map64_find(&numbers->files, file),
        .line = (uint32_t)number_at(entry, lists, LINE, at, UINT32_MAX),
    };
    if (starts && numbers->offsets[module] == OFFSETS_CODES)
        out->start = code_numbers_learn(numbers->codes, out->start);
    *by_number = number_at(entry, lists, BY_NUMBER, at, 1) || !starts;
    read_texts(entry, lists, at, out);
    if (!out->module)
        entry_fail(entry, "a function is of module %d, which is not there", (int)module);
    if (!out->number || (file && !out->file_number))
        entry_fail(entry, "a function has no number, or no file %d is there", (int)file);
}

/* As another file's function would be found: by its start, and by its name and place. The names of
 * a source are lent for the life of the profile, and the entry's go with it. */
static uint32_t number_of_other(struct functions *functions, const struct function *function)
{
    const struct function_source source = {
        .module = function->module,
        .start = function->start,
        .size = function->size,
        .name = functions_text(functions, function->name),
        .full_name = functions_text(functions, function->full_name),
        .raw_name = functions_text(functions, function->raw_name),
        .source_name = function->raw_name,
        .mangled = !strncmp(function->raw_name, "_Z", 2) || !strncmp(function->raw_name, "_R", 2),
        .file = functions_file_path(functions, function->file_number),
        .line = function->line,
    };

    return source.name && source.full_name && source.raw_name ? functions_number(functions, &source)
                                                              : 0;
}

static void put_function(struct entry *entry, struct functions *functions,
                         struct function_numbers *numbers, struct function *function,
                         bool by_number)
{
    uint32_t *place, here = 0;
    bool added;

    if (numbers->keep) {
        function_put_id(function, by_number);
        if (!functions_put(functions, function))
            entry_fail(entry, "there is no room for another function");
        return;
    }
    place = map64_put(&numbers->functions, function->number, &added);
    if (place)
        *place = here = number_of_other(functions, function);
    if (!here)
        entry_fail(entry, "there is no room for another function");
}

static void read_same(struct entry *entry, const json_t *pair, struct functions *functions)
{
    uint32_t number = (uint32_t)entry_int_at(entry, "same", pair, 0, 1, FUNCTIONS_MAX - 1);
    uint32_t root = (uint32_t)entry_int_at(entry, "same", pair, 1, 1, FUNCTIONS_MAX - 1);

    if (!entry->bad && !functions_put_same(functions, number, root))
        entry_fail(entry, "'same' has functions %d and %d, which cannot be one", (int)number,
                   (int)root);
}

void function_entry_read(struct entry *entry, struct functions *functions,
                         struct function_numbers *numbers)
{
    const json_t *files = entry_list(entry, "files"), *same = entry_list(entry, "same");
    const json_t *lists[COLUMNS];
    size_t count = read_lists(entry, lists);
    struct function function;
    bool by_number;

    for (size_t i = 0; i < json_array_size(files) && !entry->bad; i++)
        read_file(entry, json_array_get(files, i), functions, numbers);
    for (size_t i = 0; i < count && !entry->bad; i++) {
        read_function(entry, lists, i, numbers, &function, &by_number);
        if (!entry->bad)
            put_function(entry, functions, numbers, &function, by_number);
    }
    for (size_t i = 0; numbers->keep && i < json_array_size(same) && !entry->bad; i++)
        read_same(entry, json_array_get(same, i), functions);
}

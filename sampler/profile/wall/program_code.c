#include "program_code.h"

#include "../../feed/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    FIRST_TABLES_US = 200 * 1000,
    ASK_US = 2 * 1000,
    UNKNOWN_WAIT_MIN_US = 2 * 1000,
    UNKNOWN_WAIT_JIT_US = 20 * 1000,
    UNKNOWN_WAIT_MAX_US = 1000 * 1000,
};

void mapped_tables_free(struct mapped_tables *tables)
{
    for (uint32_t i = 0; i < tables->count; i++)
        munmap((void *)tables->list[i], tables->bytes[i]);
    free(tables->list);
    free(tables->bytes);
    map64_free(&tables->numbers);
    shared_tables_close(&tables->file);
}

static bool reserve_table(struct mapped_tables *tables)
{
    uint32_t capacity = tables->capacity ? 2 * tables->capacity : 64;
    const struct unwind_table **list;
    uint64_t *bytes;

    if (tables->count < tables->capacity)
        return true;
    list = reallocarray(tables->list, capacity, sizeof(*list));
    if (list)
        tables->list = list;
    bytes = reallocarray(tables->bytes, capacity, sizeof(*bytes));
    if (bytes)
        tables->bytes = bytes;
    if (!list || !bytes)
        return false;
    tables->capacity = capacity;
    return true;
}

static const struct unwind_table *map_table(struct mapped_tables *tables, struct table_place place)
{
    const struct unwind_table *table;
    uint32_t *number;
    bool added;

    if (place.at == FEED_TABLE_NONE || !shared_tables_open(&tables->file, tables->path) ||
        !reserve_table(tables) || !(number = map64_put(&tables->numbers, place.at, &added)))
        return NULL;
    if (*number)
        return tables->list[*number - 1];
    table = shared_tables_map(&tables->file, place.at, place.bytes);
    if (!table)
        return NULL;
    tables->bytes[tables->count] = place.bytes;
    tables->list[tables->count++] = table;
    *number = tables->count;
    return table;
}

void program_code_new(struct program_code *code, struct mapped_tables *tables,
                      const struct jit_process *process)
{
    const struct modules_target target = { *process, FEED_MODULES_MAX };

    *code = (struct program_code){ .tables = tables, .unknown_wait_us = UNKNOWN_WAIT_MIN_US };
    pthread_mutex_init(&code->lock, NULL);
    modules_new_of(&code->modules, &target);
}

void program_code_free(struct program_code *code)
{
    modules_free(&code->modules);
    pthread_mutex_destroy(&code->lock);
}

static bool refresh(struct program_code *code, uint32_t unloads)
{
    bool changed;

    pthread_mutex_lock(&code->lock);
    /* Counted before the look: what goes meanwhile is looked at once more. */
    atomic_store_explicit(&code->modules.maps.unloads, unloads, memory_order_relaxed);
    changed = modules_refresh(&code->modules, NULL);
    pthread_mutex_unlock(&code->lock);
    modules_reclaim(&code->modules);
    return changed;
}

/* Code that stays unknown is met again and again: then the looks become rare. */
static bool follow_unknown(struct program_code *code, uint32_t unloads, int64_t now_us)
{
    uint32_t files_before = code->modules.file_count;
    bool changed;

    if (!code->unknown || now_us < code->unknown_us + code->unknown_wait_us)
        return false;
    code->unknown = false;
    code->unknown_us = now_us;
    changed = refresh(code, unloads);
    if (code->modules.file_count != files_before)
        code->unknown_wait_us = UNKNOWN_WAIT_MIN_US;
    else if (changed)
        code->unknown_wait_us = UNKNOWN_WAIT_JIT_US;
    else if (code->unknown_wait_us < UNKNOWN_WAIT_MAX_US)
        code->unknown_wait_us *= 2;
    return changed;
}

/* False: the table is not built yet. */
static bool ask_for_table(struct program_code *code, uint32_t number)
{
    const struct loaded_file *file = &code->modules.files[number];
    const struct module_file module = {
        .path = file->path,
        .build_id = file->feed.build_id,
        .build_id_bytes = file->feed.build_id_bytes,
        .pid = code->modules.target.process.other,
        .address = file->feed.start,
    };
    struct table_place place = { .at = FEED_TABLE_NONE };

    if (code->tables->store && !table_store_ask(code->tables->store, &module, &place))
        return false;
    modules_set_table(&code->modules, number, map_table(code->tables, place));
    return true;
}

static bool follow_tables(struct program_code *code, int64_t now_us)
{
    bool any = false;

    if (!code->modules.tables_to_come || now_us < code->asked_us + ASK_US)
        return false;
    code->asked_us = now_us;
    for (uint32_t number = 1; number < code->modules.file_count; number++)
        if (!code->modules.files[number].table_known)
            any |= ask_for_table(code, number);
    if (any)
        modules_publish(&code->modules);
    return any;
}

bool program_code_follow(struct program_code *code, uint32_t unloads, int64_t now_us)
{
    bool changed = false;

    if (!code->tables_us)
        code->tables_us = now_us + FIRST_TABLES_US;
    if (!code->modules.started ||
        unloads != atomic_load_explicit(&code->modules.maps.unloads, memory_order_relaxed))
        changed = refresh(code, unloads);
    changed |= follow_unknown(code, unloads, now_us);
    changed |= follow_tables(code, now_us);
    return changed;
}

bool program_code_is_ready(const struct program_code *code, int64_t now_us)
{
    return (code->modules.started && !code->modules.tables_to_come) || now_us >= code->tables_us;
}

const struct code_map *program_code_map(const struct program_code *code)
{
    return atomic_load_explicit(&code->modules.maps.current, memory_order_relaxed);
}

void program_code_note_unknown(struct program_code *code)
{
    code->unknown = true;
}

bool program_code_module(struct program_code *code, uint32_t number, struct feed_module_view *out)
{
    bool found;

    number -= FEED_MODULES_MAX; /* a number below it becomes far too large */
    pthread_mutex_lock(&code->lock);
    found = number && number < code->modules.file_count;
    if (found) {
        const struct loaded_file *file = &code->modules.files[number];

        *out = (struct feed_module_view){ .bias = file->feed.bias,
                                          .start = file->feed.start,
                                          .end = file->feed.end,
                                          .build_id_bytes = file->feed.build_id_bytes,
                                          .path = file->path };
        memcpy(out->build_id, file->feed.build_id, sizeof(out->build_id));
    }
    pthread_mutex_unlock(&code->lock);
    return found;
}

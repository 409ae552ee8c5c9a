#include "runtime_file.h"

#include "../base/grow.h"
#include "../base/map64.h"
#include "../symbols/files/debug_file.h"
#include "../symbols/files/elf_file.h"
#include "../symbols/files/elf_symbols.h"
#include "../symbols/files/mini_debug.h"
#include "cold_pieces.h"

#include <stdlib.h>
#include <string.h>

enum { SYMBOLS_MAX = 1 << 22, COLD_FOUND_MAX = 8 };

static const char cold_mark[] = ".cold";

/* Names are not kept: of 64 bits of hash no two are the same. */
struct symbol {
    uint64_t value, size;
    bool code;
};

struct cold_symbol {
    uint64_t function; /* hash of the name that stands before ".cold" */
    uint64_t start, size;
};

struct runtime_file {
    struct elf_file *file;
    char *path;
    uint8_t build_id[FEED_BUILD_ID_MAX];
    struct module_file module; /* with the two above */
    bool read_exported, read_all;
    struct map64 by_name; /* hash -> place in symbols + 1 */
    struct symbol *symbols;
    struct cold_symbol *cold;
    uint32_t count, capacity, cold_count, cold_capacity;
};

/* FNV-1a. */
static uint64_t hash_name(const char *name, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

struct runtime_file *runtime_file_open(const struct module_file *module)
{
    struct runtime_file *file = calloc(1, sizeof(*file));
    const char *reason;

    if (!file)
        return NULL;
    file->module = *module;
    file->module.path = file->path = strdup(module->path);
    if (module->build_id_bytes)
        memcpy(file->build_id, module->build_id, module->build_id_bytes);
    file->module.build_id = file->build_id;
    file->file = file->path ? module_file_open(module, &reason) : NULL;
    if (file->file)
        return file;
    runtime_file_close(file);
    return NULL;
}

void runtime_file_close(struct runtime_file *file)
{
    if (!file)
        return;
    elf_file_close(file->file);
    map64_free(&file->by_name);
    free(file->symbols);
    free(file->cold);
    free(file->path);
    free(file);
}

struct wanted_name {
    const char *name;
    size_t bytes;
    bool found;
};

static bool is_wanted(void *context, const struct elf_symbol *symbol)
{
    struct wanted_name *wanted = context;

    wanted->found =
        symbol->name_bytes == wanted->bytes && !memcmp(symbol->name, wanted->name, wanted->bytes);
    return !wanted->found;
}

bool runtime_file_exports(struct runtime_file *file, const char *name)
{
    struct wanted_name wanted = { name, strlen(name), false };

    elf_symbols(file->file, true, is_wanted, &wanted);
    return wanted.found;
}

/* "f.cold", "f.cold.0". */
static void note_cold(struct runtime_file *file, const struct elf_symbol *symbol)
{
    const char *mark =
        symbol->size ? memmem(symbol->name, symbol->name_bytes, cold_mark, sizeof(cold_mark) - 1)
                     : NULL;

    if (!mark || !GROW(file->cold, file->cold_count, file->cold_capacity))
        return;
    file->cold[file->cold_count++] =
        (struct cold_symbol){ hash_name(symbol->name, (size_t)(mark - symbol->name)), symbol->value,
                              symbol->size };
}

/* Of several with one name the first one stays: exported ones come first. Without memory it is left out. */
static bool note_symbol(void *context, const struct elf_symbol *symbol)
{
    struct runtime_file *file = context;
    uint32_t *place;
    bool added;

    if (file->count == SYMBOLS_MAX)
        return false;
    if (symbol->code)
        note_cold(file, symbol);
    if (!GROW(file->symbols, file->count, file->capacity))
        return false;
    place = map64_put(&file->by_name, hash_name(symbol->name, symbol->name_bytes), &added);
    if (!place)
        return false;
    if (!added)
        return true;
    file->symbols[file->count] = (struct symbol){ symbol->value, symbol->size, symbol->code };
    *place = ++file->count;
    return true;
}

/* What other modules may use: in large programs far less than all. */
static void read_exported(struct runtime_file *file)
{
    if (!file->read_exported)
        elf_symbols(file->file, true, note_symbol, file);
    file->read_exported = true;
}

/* The full symbol table: its own, or of what was stripped of it. */
static void read_all(struct runtime_file *file)
{
    struct elf_file *debug = NULL;

    if (file->read_all)
        return;
    file->read_all = true;
    if (elf_file_has_symtab(file->file)) {
        elf_symbols(file->file, false, note_symbol, file);
        return;
    }
    debug = debug_file_open(&file->module, file->file);
    if (!debug)
        debug = mini_debug_open(file->file);
    if (debug)
        elf_symbols(debug, false, note_symbol, file);
    elf_file_close(debug);
}

/* NULL: there is none. */
static const struct symbol *find_symbol(struct runtime_file *file, const char *name)
{
    uint64_t hash = hash_name(name, strlen(name));
    uint32_t place;

    read_exported(file);
    if (!(place = map64_find(&file->by_name, hash))) {
        read_all(file);
        place = map64_find(&file->by_name, hash);
    }
    return place ? &file->symbols[place - 1] : NULL;
}

bool runtime_file_symbol(struct runtime_file *file, const char *name, uint64_t *vaddr,
                         uint64_t *size)
{
    const struct symbol *symbol = find_symbol(file, name);

    if (!symbol)
        return false;
    *vaddr = symbol->value;
    if (size)
        *size = symbol->size;
    return true;
}

static bool is_named(const struct runtime_file *file, const struct runtime_piece *piece)
{
    for (uint32_t i = 0; i < file->count; i++)
        if (file->symbols[i].code && file->symbols[i].value >= piece->start &&
            file->symbols[i].value < piece->end)
            return true;
    return false;
}

static uint32_t pieces_by_symbol(const struct runtime_file *file, const char *name,
                                 struct runtime_piece *out, uint32_t room)
{
    uint64_t function = hash_name(name, strlen(name));
    uint32_t count = 0;

    for (uint32_t i = 0; i < file->cold_count && count < room; i++)
        if (file->cold[i].function == function)
            out[count++] = (struct runtime_piece){ file->cold[i].start,
                                                   file->cold[i].start + file->cold[i].size };
    return count;
}

static uint32_t pieces_by_unwind_data(const struct runtime_file *file, struct runtime_piece *whole,
                                      struct runtime_piece *out, uint32_t room)
{
    struct runtime_piece found[COLD_FOUND_MAX];
    uint32_t count = 0, candidates = cold_pieces_find(file->file, whole, found, COLD_FOUND_MAX);

    for (uint32_t i = 0; i < candidates && count < room; i++)
        if (!is_named(file, &found[i]))
            out[count++] = found[i];
    return count;
}

uint32_t runtime_file_pieces(struct runtime_file *file, const char *name, struct runtime_piece *out,
                             uint32_t room)
{
    const struct symbol *symbol = find_symbol(file, name);
    uint32_t count;

    if (!symbol || !room)
        return 0;
    out[0] = (struct runtime_piece){ symbol->value, symbol->value + symbol->size };
    read_all(file); /* cold parts are never exported */
    count = pieces_by_symbol(file, name, out + 1, room - 1);
    if (!count)
        count = pieces_by_unwind_data(file, &out[0], out + 1, room - 1);
    return 1 + count;
}

uint32_t runtime_file_callee(struct runtime_file *file, const char *name, struct runtime_piece *out,
                             uint32_t room)
{
    const struct symbol *symbol = find_symbol(file, name);

    if (!symbol || !room)
        return 0;
    const struct runtime_piece caller = { symbol->value, symbol->value + symbol->size };
    return runtime_file_callee_of(file, &caller, UINT64_MAX, out, room);
}

uint32_t runtime_file_callee_of(struct runtime_file *file, const struct runtime_piece *caller,
                                uint64_t below, struct runtime_piece *out, uint32_t room)
{
    read_all(file);
    if (!room || !cold_pieces_callee(file->file, caller, below, &out[0]) || is_named(file, &out[0]))
        return 0;
    return 1 + pieces_by_unwind_data(file, &out[0], out + 1, room - 1);
}

bool runtime_file_gap(struct runtime_file *file, struct runtime_piece *out)
{
    return code_gap_find(file->file, out);
}

bool runtime_file_text(struct runtime_file *file, const char *beginning, char *out, size_t bytes)
{
    uint64_t size, vaddr;
    const uint8_t *constants = elf_file_section(file->file, ".rodata", &size, &vaddr),
                  *found = constants ? memmem(constants, size, beginning, strlen(beginning)) : NULL;
    size_t length;

    if (!found || !bytes)
        return false;
    length = strnlen((const char *)found, size - (size_t)(found - constants));
    if (length > bytes - 1)
        length = bytes - 1;
    memcpy(out, found, length);
    out[length] = '\0';
    return true;
}

bool runtime_file_bytes(struct runtime_file *file, uint64_t vaddr, void *out, uint64_t bytes)
{
    return elf_file_read(file->file, vaddr, out, bytes) == bytes;
}

#include "inject_objects.h"

#include "../../capture/system/maps.h"
#include "../../capture/system/memory.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS_MAX = 64, DYNAMIC_MAX = 128, NAME_BYTES = 64, CODE_BYTES_MAX = 64 << 20 };

/* What of an object's dynamic section is looked up by. */
struct table {
    pid_t pid;
    uint64_t bias, symbols, strings, hash;
};

bool inject_object_find(struct inject_object *out, pid_t pid, const char *name)
{
    struct maps_reader *maps = malloc(sizeof(*maps));
    struct maps_line line;
    uint64_t inode = 0;

    memset(out, 0, sizeof(*out));
    if (!maps || maps_open(maps, pid) < 0) {
        free(maps);
        return false;
    }
    while (maps_next(maps, &line) && !out->code_end) {
        const char *slash = strrchr(line.path, '/');

        if (!slash || strncmp(slash + 1, name, strlen(name)) != 0)
            continue;
        if (!line.offset) {
            out->base = line.start;
            inode = line.inode;
        }
        if (line.executable && out->base && line.inode == inode) {
            out->code = line.start;
            out->code_end = line.end;
        }
    }
    maps_close(maps);
    free(maps);
    return out->code_end;
}

bool inject_mapping(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end,
                    bool *is_main_stack)
{
    struct maps_reader *maps = malloc(sizeof(*maps));
    struct maps_line line;
    bool found = false;

    if (!maps || maps_open(maps, pid) < 0) {
        free(maps);
        return false;
    }
    while (!found && maps_next(maps, &line)) {
        found = address >= line.start && address < line.end;
        *start = line.start;
        *end = line.end;
        *is_main_stack = found && !strcmp(line.path, "[stack]");
    }
    maps_close(maps);
    free(maps);
    return found;
}

/* The loader has made addresses of some, and left others as they were. */
static uint64_t place_of(const struct inject_object *object, uint64_t bias, uint64_t value)
{
    return value < object->base ? value + bias : value;
}

static bool read_table(const struct inject_object *object, pid_t pid, struct table *out)
{
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Dyn entries[DYNAMIC_MAX] = { 0 };
    uint64_t dynamic = 0, dynamic_bytes = 0, first = UINT64_MAX;
    Elf64_Ehdr head;

    *out = (struct table){ .pid = pid };
    if (!memory_read(pid, &head, object->base, sizeof(head)) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phnum > HEADERS_MAX ||
        !memory_read(pid, headers, object->base + head.e_phoff, head.e_phnum * sizeof(*headers)))
        return false;
    for (int i = 0; i < head.e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr < first)
            first = headers[i].p_vaddr;
        if (headers[i].p_type == PT_DYNAMIC) {
            dynamic = headers[i].p_vaddr;
            dynamic_bytes = headers[i].p_memsz;
        }
    }
    out->bias = object->base - (first & ~UINT64_C(4095));
    if (dynamic_bytes > sizeof(entries))
        dynamic_bytes = sizeof(entries);
    if (!dynamic || !memory_read(pid, entries, out->bias + dynamic, dynamic_bytes))
        return false;
    for (int i = 0; i < DYNAMIC_MAX && entries[i].d_tag != DT_NULL; i++) {
        uint64_t place = place_of(object, out->bias, entries[i].d_un.d_ptr);

        if (entries[i].d_tag == DT_SYMTAB)
            out->symbols = place;
        else if (entries[i].d_tag == DT_STRTAB)
            out->strings = place;
        else if (entries[i].d_tag == DT_GNU_HASH)
            out->hash = place;
    }
    return out->symbols && out->strings && out->hash;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* The function of that name among the symbols of one bucket of the hash table. */
static uint64_t look_in_bucket(const struct table *table, uint64_t chains, uint32_t index,
                               uint32_t hash, const char *name)
{
    for (int looks = 0; looks < DYNAMIC_MAX; looks++, index++) {
        char text[NAME_BYTES] = "";
        Elf64_Sym symbol;
        uint32_t chain;

        if (!memory_read(table->pid, &chain, chains + index * sizeof(chain), sizeof(chain)))
            return 0;
        if ((chain | 1) == (hash | 1) &&
            memory_read(table->pid, &symbol, table->symbols + index * sizeof(symbol),
                        sizeof(symbol)) &&
            memory_read_some(table->pid, text, table->strings + symbol.st_name, sizeof(text) - 1) >
                0 &&
            !strcmp(text, name) && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value)
            return table->bias + symbol.st_value;
        if (chain & 1)
            return 0;
    }
    return 0;
}

uint64_t inject_object_function(const struct inject_object *object, pid_t pid, const char *name)
{
    struct table table;
    uint32_t head[4]; /* buckets, the first symbol, words of the filter, its shift */
    uint64_t buckets, chains;
    uint32_t first, hash = hash_of(name);

    if (!read_table(object, pid, &table) || !memory_read(pid, head, table.hash, sizeof(head)) ||
        !head[0])
        return 0;
    buckets = table.hash + sizeof(head) + head[2] * sizeof(uint64_t);
    chains = buckets + head[0] * sizeof(uint32_t) - head[1] * sizeof(uint32_t);
    if (!memory_read(pid, &first, buckets + hash % head[0] * sizeof(first), sizeof(first)) ||
        first < head[1])
        return 0;
    return look_in_bucket(&table, chains, first, hash, name);
}

uint64_t inject_object_bytes(const struct inject_object *object, pid_t pid, const uint8_t *bytes,
                             size_t count)
{
    uint64_t size = object->code_end - object->code, found = 0;
    uint8_t *code = size <= CODE_BYTES_MAX ? malloc(size) : NULL;
    const uint8_t *at = NULL;

    if (code && memory_read(pid, code, object->code, size))
        at = memmem(code, size, bytes, count);
    if (at)
        found = object->code + (uint64_t)(at - code);
    free(code);
    return found;
}

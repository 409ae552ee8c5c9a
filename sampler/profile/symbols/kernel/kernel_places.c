#include "kernel_places.h"

#include "../../../feed/cleanup.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_US = 1000 * 1000, NOTES_BYTES = 4096, MODULES_MAX = 4096 };

static void close_stream(FILE **stream)
{
    if (*stream)
        fclose(*stream);
}

static void free_line(char **line)
{
    free(*line);
}

bool kernel_library_is(const char *path, uint32_t build_id_bytes)
{
    size_t length = strlen(path);

    if (!strcmp(path, KERNEL_LIBRARY))
        return true;
    return build_id_bytes && length > 2 && path[0] == '[' && path[length - 1] == ']' &&
           strcmp(path, "[vdso]") != 0;
}

/* Notes: a head, a name and what it is about, both up to multiples of 4. Returns bytes; 0: there is none. */
static uint32_t find_build_id(const uint8_t *notes, size_t bytes, uint8_t out[FEED_BUILD_ID_MAX])
{
    Elf64_Nhdr head;

    for (size_t at = 0; at + sizeof(head) <= bytes;) {
        size_t name_bytes, text_bytes;

        memcpy(&head, notes + at, sizeof(head));
        at += sizeof(head);
        name_bytes = ((size_t)head.n_namesz + 3) & ~(size_t)3;
        text_bytes = ((size_t)head.n_descsz + 3) & ~(size_t)3;
        if (name_bytes > bytes - at || text_bytes > bytes - at - name_bytes)
            return 0;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(notes + at, "GNU", 4) &&
            head.n_descsz <= FEED_BUILD_ID_MAX) {
            memcpy(out, notes + at + name_bytes, head.n_descsz);
            return head.n_descsz;
        }
        at += name_bytes + text_bytes;
    }
    return 0;
}

static void read_build_id(struct kernel_place *place)
{
    uint8_t notes[NOTES_BYTES];
    char path[128], name[KERNEL_LIBRARY_BYTES];
    size_t bytes = 0;

    snprintf(name, sizeof(name), "%.*s", (int)strlen(place->library) - 2, place->library + 1);
    if (!strcmp(place->library, KERNEL_LIBRARY))
        snprintf(path, sizeof(path), "/sys/kernel/notes");
    else
        snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
    CLEANUP(close_stream) FILE *file = fopen(path, "re");
    if (file)
        bytes = fread(notes, 1, sizeof(notes), file);
    place->build_id_bytes = find_build_id(notes, bytes, place->build_id);
}

/* What BPF and tracing make stands there as if it were a module's. */
static bool is_no_module(const char *name)
{
    return !strncmp(name, "bpf]", 4) || !strncmp(name, "__builtin__", 11);
}

bool kernel_symbol_read(char *line, struct kernel_symbol *out)
{
    char *end, *module;

    out->address = strtoull(line, &end, 16);
    if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
        return false;
    out->type = end[1];
    out->name = end + 3;
    out->name[strcspn(out->name, "\n")] = '\0';
    module = strchr(out->name, '\t');
    if (module)
        *module++ = '\0';
    snprintf(out->library, sizeof(out->library), "%s",
             module && module[0] == '[' && !is_no_module(module + 1) ? module : KERNEL_LIBRARY);
    return out->name[0] != '\0';
}

/* From _stext to _etext. All zeros where addresses are hidden. */
static void take_kernel(struct kernel_place *kernel, FILE *kallsyms)
{
    CLEANUP(free_line) char *line = NULL;
    struct kernel_symbol symbol;
    size_t room = 0;

    snprintf(kernel->library, sizeof(kernel->library), KERNEL_LIBRARY);
    while (kallsyms && !(kernel->start && kernel->end) && getline(&line, &room, kallsyms) > 0) {
        if (!kernel_symbol_read(line, &symbol) || strcmp(symbol.library, KERNEL_LIBRARY) != 0)
            continue;
        if (!strcmp(symbol.name, "_stext"))
            kernel->start = symbol.address;
        else if (!strcmp(symbol.name, "_etext"))
            kernel->end = symbol.address;
    }
    if (kernel->end <= kernel->start)
        kernel->start = kernel->end = 0;
}

static int by_start(const void *one, const void *other)
{
    const struct kernel_place *a = one, *b = other;

    return a->start < b->start ? -1 : a->start > b->start;
}

/* "nf_tables 303104 1 nft_compat, Live 0xffffffffc0a00000"; 0 where it is hidden. */
static bool read_module(const char *line, struct kernel_place *out)
{
    char name[KERNEL_LIBRARY_BYTES - 2];
    uint64_t bytes;
    const char *address = strstr(line, " 0x");

    *out = (struct kernel_place){ 0 };
    if (!address || sscanf(line, "%61s %" SCNu64, name, &bytes) != 2)
        return false;
    snprintf(out->library, sizeof(out->library), "[%s]", name);
    out->start = strtoull(address + 1, NULL, 16);
    out->end = out->start + bytes;
    return out->start && out->end > out->start;
}

static void take_modules(struct kernel_places *places, FILE *modules)
{
    CLEANUP(free_line) char *line = NULL;
    struct kernel_place module;
    size_t room = 0;

    free(places->modules);
    places->modules = NULL;
    places->module_count = 0;
    while (modules && places->module_count < MODULES_MAX && getline(&line, &room, modules) > 0) {
        struct kernel_place *grown;

        if (!read_module(line, &module))
            continue;
        grown = reallocarray(places->modules, places->module_count + 1, sizeof(*grown));
        if (!grown)
            break;
        places->modules = grown;
        places->modules[places->module_count++] = module;
    }
    if (places->module_count)
        qsort(places->modules, places->module_count, sizeof(*places->modules), by_start);
}

void kernel_places_take(struct kernel_places *places, FILE *kallsyms, FILE *modules)
{
    take_kernel(&places->kernel, kallsyms);
    take_modules(places, modules);
    places->read = true;
}

static void look_for_modules(struct kernel_places *places)
{
    CLEANUP(close_stream) FILE *modules = fopen("/proc/modules", "re");

    take_modules(places, modules);
    for (size_t i = 0; i < places->module_count; i++)
        read_build_id(&places->modules[i]);
}

void kernel_places_read(struct kernel_places *places)
{
    CLEANUP(close_stream) FILE *kallsyms = fopen("/proc/kallsyms", "re");

    take_kernel(&places->kernel, kallsyms);
    read_build_id(&places->kernel);
    look_for_modules(places);
    places->read = true;
}

void kernel_places_free(struct kernel_places *places)
{
    free(places->modules);
    *places = (struct kernel_places){ 0 };
}

/* A module's parts lie apart, and its size is that of all: the last one that begins before is it. */
static const struct kernel_place *find_module(const struct kernel_places *places, uint64_t address)
{
    size_t low = 0, high = places->module_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (places->modules[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < places->modules[low - 1].end ? &places->modules[low - 1] : NULL;
}

static bool is_in_kernel(const struct kernel_places *places, uint64_t address)
{
    return address >= places->kernel.start && address < places->kernel.end;
}

const struct kernel_place *kernel_places_find(struct kernel_places *places, uint64_t address,
                                              int64_t now_us)
{
    const struct kernel_place *module;

    if (!places->read) {
        kernel_places_read(places);
        places->looked_us = now_us;
    }
    if (is_in_kernel(places, address) || kernel_places_hidden(places))
        return &places->kernel;
    module = find_module(places, address);
    if (!module && now_us - places->looked_us >= LOOK_US) {
        look_for_modules(places);
        places->looked_us = now_us;
        module = find_module(places, address);
    }
    return module ? module : &places->kernel;
}

const struct kernel_place *kernel_places_named(const struct kernel_places *places,
                                               const char *library)
{
    if (!strcmp(library, places->kernel.library))
        return &places->kernel;
    for (size_t i = 0; i < places->module_count; i++)
        if (!strcmp(library, places->modules[i].library))
            return &places->modules[i];
    return NULL;
}

bool kernel_places_hidden(const struct kernel_places *places)
{
    return !places->kernel.start;
}

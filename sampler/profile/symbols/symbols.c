#include "symbols.h"

#include "../../feed/cleanup.h"
#include "../../include/isoscope/isoscope.h"
#include "debug_file.h"
#include "elf_file.h"
#include "frame_starts.h"
#include "mini_debug.h"
#include "ranges.h"

#include <libiberty/demangle.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Demangling is recursive; nobody reads longer names anyway. */
enum { MANGLED_BYTES_MAX = 16 * 1024 };

struct symbols {
    struct ranges ranges;
    struct frame_starts frames; /* for what no symbol covers */
    _Atomic(char *) *names;     /* by range_symbol: demangled when first asked for */
    const char *reason;
};

static bool take_function(void *context, const struct elf_function *function)
{
    return ranges_add(context, function) == 0;
}

/* The full symbol table, where the module's own file has been stripped of it. */
static struct elf_file *open_stripped(const struct module_file *module, struct elf_file *file)
{
    struct elf_file *debug;

    if (file && elf_file_has_symtab(file))
        return NULL;
    debug = debug_file_open(module, file);
    if (!debug && file)
        debug = mini_debug_open(file);
    return debug;
}

/* Adds what the module's own file and its debug file know; sets the reason when that is nothing. */
static void read_files(struct symbols *symbols, const struct module_file *module)
{
    CLEANUP(elf_file_closep) struct elf_file *file = module_file_open(module, &symbols->reason);
    /* Found by the build id, so it is right even when the module's own file is gone. */
    CLEANUP(elf_file_closep) struct elf_file *debug = open_stripped(module, file);

    if (file) {
        elf_file_functions(file, take_function, &symbols->ranges);
        frame_starts_read(&symbols->frames, file); /* without memory: as if there were none */
    }
    if (debug)
        elf_file_functions(debug, take_function, &symbols->ranges);
    if (file || debug)
        symbols->reason = ranges_empty(&symbols->ranges) ? "the file has no symbols" : NULL;
}

int symbols_read(struct symbols **out, const struct module_file *module)
{
    struct symbols *symbols = calloc(1, sizeof(*symbols));

    if (!symbols)
        return -ISOSCOPE_NO_MEMORY;
    read_files(symbols, module);
    if (ranges_build(&symbols->ranges) == 0)
        symbols->names = calloc(symbols->ranges.symbol_count + 1, sizeof(*symbols->names));
    if (!symbols->names) {
        symbols_free(symbols);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = symbols;
    return 0;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (uint32_t i = 0; symbols->names && i < symbols->ranges.symbol_count; i++) {
        char *name = atomic_load_explicit(&symbols->names[i], memory_order_relaxed);

        if (name != ranges_name(&symbols->ranges, i))
            free(name);
    }
    free(symbols->names);
    ranges_free(&symbols->ranges);
    frame_starts_free(&symbols->frames);
    free(symbols);
}

static char *demangle(char *raw)
{
    char *name = NULL;

    if (strnlen(raw, MANGLED_BYTES_MAX) < MANGLED_BYTES_MAX)
        name = cplus_demangle(raw, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
    return name ? name : raw;
}

/* Two threads may demangle the same name at once: the first one's result stays. */
static const char *shown_name(struct symbols *symbols, uint32_t number)
{
    char *name = atomic_load_explicit(&symbols->names[number], memory_order_acquire);
    char *raw = ranges_name(&symbols->ranges, number), *mine;

    if (name)
        return name;
    mine = demangle(raw);
    if (atomic_compare_exchange_strong(&symbols->names[number], &name, mine))
        return mine;
    if (mine != raw)
        free(mine);
    return name;
}

bool symbols_find(struct symbols *symbols, uint64_t offset, struct symbol *out)
{
    uint32_t number;

    if (!ranges_find(&symbols->ranges, offset, &number)) {
        *out = (struct symbol){ 0 };
        return frame_starts_find(&symbols->frames, offset, &out->start);
    }
    *out = (struct symbol){ .start = symbols->ranges.symbols[number].start,
                            .raw_name = ranges_name(&symbols->ranges, number),
                            .name = shown_name(symbols, number) };
    out->full_name = out->name;
    return true;
}

const char *symbols_reason(const struct symbols *symbols)
{
    return symbols->reason;
}

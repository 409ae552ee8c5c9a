#include "symbols.h"

#include "../../feed/cleanup.h"
#include "../../include/isoscope/isoscope.h"
#include "files/debug_file.h"
#include "files/elf_functions.h"
#include "files/mini_debug.h"
#include "kernel/kernel_symbols.h"
#include "names/frame_starts.h"
#include "names/other_languages.h"
#include "names/plt.h"
#include "names/ranges.h"
#include "names/display_name.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct symbols {
    struct ranges ranges;
    struct frame_starts frames;                   /* for what no symbol covers */
    _Atomic(struct display_name *) *display_name; /* by range_symbol: made when first asked for */
    struct elf_segment code;                      /* size 0: not known */
    bool gnat;                                    /* it has Ada code */
    const char *reason;
};

static bool take_function(void *context, const struct elf_function *function)
{
    struct symbols *symbols = context;

    symbols->gnat = symbols->gnat || other_languages_is_gnat(function->name);
    return ranges_add(&symbols->ranges, function) == 0;
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
        elf_file_segment(file, &symbols->code);
        elf_functions(file, take_function, symbols);
        frame_starts_read(&symbols->frames, file); /* without memory: as if there were none */
    }
    if (debug)
        elf_functions(debug, take_function, symbols);
    if (file)
        plt_add(&symbols->ranges, file); /* without memory: as if there were none */
    if (file || debug)
        symbols->reason = ranges_empty(&symbols->ranges) ? "the file has no symbols" : NULL;
}

int symbols_read(struct symbols **out, const struct module_file *module)
{
    struct symbols *symbols = calloc(1, sizeof(*symbols));

    if (!symbols)
        return -ISOSCOPE_NO_MEMORY;
    if (kernel_library_is(module->path, module->build_id_bytes))
        kernel_symbols(module, take_function, symbols, &symbols->reason);
    else
        read_files(symbols, module);
    if (ranges_build(&symbols->ranges) == 0)
        symbols->display_name =
            calloc(symbols->ranges.symbol_count + 1, sizeof(*symbols->display_name));
    if (!symbols->display_name) {
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
    for (uint32_t i = 0; symbols->display_name && i < symbols->ranges.symbol_count; i++)
        free(atomic_load_explicit(&symbols->display_name[i], memory_order_relaxed));
    free(symbols->display_name);
    ranges_free(&symbols->ranges);
    frame_starts_free(&symbols->frames);
    free(symbols);
}

/* Two threads may make the same one at once: the first one's stays. NULL: out of memory, or it is
 * said as it is written. */
static const struct display_name *display_name_of(struct symbols *symbols, uint32_t number,
                                                  const char *raw)
{
    const unsigned traits = (symbols->ranges.symbols[number].resolver ? DISPLAY_NAME_RESOLVER : 0) |
                            (symbols->gnat ? DISPLAY_NAME_GNAT : 0);
    struct display_name *there =
        atomic_load_explicit(&symbols->display_name[number], memory_order_acquire);
    struct display_name *mine;

    if (there || !display_name_differs(raw, traits))
        return there;
    mine = display_name_new(raw, traits);
    if (!mine || atomic_compare_exchange_strong(&symbols->display_name[number], &there, mine))
        return mine;
    free(mine);
    return there;
}

static void name_symbol(struct symbols *symbols, uint32_t number, struct symbol *out)
{
    const char *raw = ranges_name(&symbols->ranges, number);
    const struct display_name *display_name = display_name_of(symbols, number, raw);

    const struct range_symbol *symbol = &symbols->ranges.symbols[number];

    *out = (struct symbol){ .start = symbol->start,
                            .size = symbol->end - symbol->start,
                            .raw_name = raw,
                            .name = display_name ? display_name->name : raw,
                            .full_name = display_name ? display_name->full_name : raw };
}

bool symbols_find(struct symbols *symbols, uint64_t offset, struct symbol *out)
{
    uint32_t number;

    if (!ranges_find(&symbols->ranges, offset, &number)) {
        *out = (struct symbol){ 0 };
        return frame_starts_find(&symbols->frames, offset, &out->start);
    }
    name_symbol(symbols, number, out);
    return true;
}

/* Of a function that the unwind data alone knows. */
static struct code_part unnamed_part(const struct symbols *symbols, uint64_t start)
{
    uint64_t end = frame_starts_next(&symbols->frames, start);
    uint64_t named = ranges_next(&symbols->ranges, start);

    return (struct code_part){ start, named < end ? named : end };
}

uint32_t symbols_parts(const struct symbols *symbols, uint64_t offset, struct code_part *out,
                       uint32_t max)
{
    uint64_t start;
    uint32_t number;

    if (ranges_find(&symbols->ranges, offset, &number))
        return ranges_parts(&symbols->ranges, number, out, max);
    if (!max || !frame_starts_find(&symbols->frames, offset, &start))
        return 0;
    *out = unnamed_part(symbols, start);
    return 1;
}

const struct elf_segment *symbols_code(const struct symbols *symbols)
{
    return symbols->code.size ? &symbols->code : NULL;
}

const char *symbols_reason(const struct symbols *symbols)
{
    return symbols->reason;
}

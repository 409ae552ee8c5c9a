/*
 * symbols_fuzz.c - any bytes as a module's file: all that reads it, by libFuzzer.
 *
 * The file lies in memory, so that a run costs no disk. Nothing is checked here but that it ends,
 * in time and in bounds; what sanitizers say is the verdict.
 */
#include "sampler/feed/cleanup.h"
#include "sampler/profile/symbols/files/debug_file.h"
#include "sampler/profile/symbols/files/elf_file.h"
#include "sampler/profile/symbols/instructions.h"
#include "sampler/profile/symbols/lines.h"
#include "sampler/profile/symbols/files/mini_debug.h"
#include "sampler/profile/symbols/symbols.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOK_UPS = 64, LINES_BYTES = 4096, PARTS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void free_symbols(struct symbols **symbols)
{
    symbols_free(*symbols);
}

/* As a listing does: the parts of a function, wherever the file says that they lie. */
static void disassemble(const struct module_file *module, const struct symbols *symbols)
{
    const char *reason;
    CLEANUP(instructions_closep)
    struct instructions *instructions = instructions_open(module, &reason);
    struct code_part parts[PARTS];
    struct instruction instruction;

    for (uint64_t i = 0; instructions && i < LOOK_UPS; i++) {
        uint32_t count = symbols_parts(symbols, i * 0x123, parts, PARTS);

        for (uint32_t part = 0; part < count; part++) {
            if (!instructions_seek(instructions, parts[part]))
                continue;
            while (instructions_next(instructions, &instruction))
                if (!instruction.size || instruction.size > INSTRUCTION_BYTES_MAX)
                    abort();
        }
    }
}

/* Addresses all over those that small files have, and the last ones there are. */
static void look_up(const struct module_file *module)
{
    CLEANUP(free_symbols) struct symbols *symbols = NULL;
    struct symbol symbol;

    if (symbols_read(&symbols, module) < 0)
        abort(); /* a small file cannot need that much memory */
    for (uint64_t i = 0; i < LOOK_UPS; i++) {
        if (symbols_find(symbols, i * 0x123, &symbol) && symbol.name && !symbol.raw_name)
            abort();
        symbols_find(symbols, UINT64_MAX - i * 0x123, &symbol);
    }
    disassemble(module, symbols);
}

static void close_lines(struct lines **lines)
{
    lines_close(*lines);
}

static void look_up_lines(const struct module_file *module)
{
    static struct line_frame frames[LINES_FRAMES_MAX];
    CLEANUP(close_lines) struct lines *lines = NULL;

    if (lines_open(&lines, module) < 0)
        abort();
    /* Small files have all their code within the first kilobytes. */
    for (uint64_t offset = 0; offset < LINES_BYTES; offset += 16)
        lines_find(lines, offset, frames);
    lines_find(lines, UINT64_MAX, frames);
}

/* What symbols_read leaves out where it has found enough. */
static void look_for_debug_data(const struct module_file *module)
{
    const char *reason;
    uint32_t sum;
    CLEANUP(elf_file_closep) struct elf_file *file = module_file_open(module, &reason);

    if (!file)
        return;
    elf_file_close(debug_file_alt(module, file));
    elf_file_close(debug_file_open(module, file));
    elf_file_close(mini_debug_open(file));
    elf_file_has_dwarf(file);
    elf_file_crc32(file, &sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static int fd = -1;
    char path[PATH_MAX];
    struct module_file module = { .path = path };

    if (fd < 0)
        fd = memfd_create("module", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, bytes, count, 0) != (ssize_t)count)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    look_up(&module);
    look_for_debug_data(&module);
    look_up_lines(&module);
    return 0;
}

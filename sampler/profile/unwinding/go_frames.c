#include "go_frames.h"

#include "../../capture/system/arch.h"
#include "../symbols/files/elf_functions.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 29, CIE_ID = -1 };

/* Those that have no caller, and those that change stacks. The rest of the runtime's assembly keeps
 * its rules. */
static const struct {
    const char *name;
    enum row_end end;
} marked[] = {
    { "runtime.goexit", ROW_END_ROOT },
    { "runtime.mstart", ROW_END_ROOT },
    { "runtime.rt0_go", ROW_END_ROOT },
    { "runtime.asmcgocall", ROW_END_SWITCH },
    { "runtime.systemstack", ROW_END_SWITCH },
    { "runtime.mcall", ROW_END_SWITCH },
    { "runtime.morestack", ROW_END_SWITCH },
    { "runtime.cgocallback", ROW_END_SWITCH },
    { "runtime.nanotime1", ROW_END_SWITCH },
    { "runtime.walltime", ROW_END_SWITCH },
    { "runtime.asmcgocall_no_g", ROW_END_SWITCH },
    { "time.now", ROW_END_SWITCH },
};

/* "runtime.mcall" and "runtime.mcall.abi0" are the same. */
static bool is_named(const struct elf_function *function, const char *name)
{
    size_t length = strlen(name);

    if (function->name_bytes < length || memcmp(function->name, name, length) != 0)
        return false;
    return function->name_bytes == length || !strcmp(function->name + length, ".abi0");
}

/* A file may have any number of symbols with such a name. */
static bool mark(void *context, const struct elf_function *function)
{
    struct go_frames *frames = context;

    for (size_t i = 0; i < sizeof(marked) / sizeof(marked[0]); i++) {
        if (frames->mark_count == GO_MARKS_MAX)
            return false;
        if (is_named(function, marked[i].name))
            frames->marks[frames->mark_count++] =
                (struct go_mark){ function->start, marked[i].end };
    }
    return true;
}

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* A record names its CIE by where that lies in the section; in .eh_frame, by how far it is back. */
static void convert(uint8_t *bytes, uint64_t size)
{
    uint64_t at = 0;

    while (size - at >= 8) {
        uint64_t length = word_at(bytes + at), id_at = at + 4;
        uint32_t id = word_at(bytes + id_at);

        if (length < 4 || length > size - id_at)
            return;
        id = id == (uint32_t)CIE_ID || id >= id_at ? 0 : (uint32_t)id_at - id;
        memcpy(bytes + id_at, &id, sizeof(id));
        at = id_at + length;
    }
}

/* The table of functions lies elsewhere in position-independent programs of some versions: in
 * .data.rel.ro. */
static bool is_go(struct elf_file *file)
{
    uint64_t size, address;

    return elf_file_section(file, ".go.buildinfo", &size, &address) ||
           elf_file_section(file, ".gopclntab", &size, &address);
}

enum go_found go_frames_read(struct go_frames *out, struct elf_file *file)
{
    struct go_frames frames = { 0 };
    const uint8_t *bytes;

    /* Elsewhere a return address may be in a register, which these rules do not say. */
    if (elf_file_machine(file) != EM_X86_64 || !is_go(file))
        return GO_NONE;
    bytes = elf_file_unpacked(file, ".debug_frame", BYTES_MAX, &frames.size);
    frames.bytes = bytes && frames.size ? malloc(frames.size) : NULL;
    if (!frames.bytes)
        return GO_STRIPPED;
    memcpy(frames.bytes, bytes, frames.size);
    convert(frames.bytes, frames.size);
    elf_functions(file, mark, &frames);
    if (!frames.mark_count) { /* which functions change stacks is not known */
        free(frames.bytes);
        return GO_STRIPPED;
    }
    *out = frames;
    return GO_READ;
}

void go_frames_free(struct go_frames *frames)
{
    free(frames->bytes);
    *frames = (struct go_frames){ 0 };
}

#include "stack_modules.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS_MAX = 64, NOTES_MAX = 4096, ROUND = 64 };

/* .eh_frame_hdr: version 1, encodings, then 4 bytes each of .eh_frame's place and of the table's length; the table has
 * pairs of 4 bytes. Source: LSB Core, "Exception Frames". */
struct unwind_header {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    int32_t frame;
    uint32_t count;
};
enum { ENCODED_UDATA4 = 0x03, ENCODED_DATAREL_SDATA4 = 0x3b, ENCODED_SIZE = 0x07 };

static void read_unwind_header(struct stack_module *module, struct stack_memory *memory,
                               uint64_t at)
{
    struct unwind_header header;

    if (!stack_memory_get(memory, at, &header, sizeof(header)) || header.version != 1 ||
        header.count_encoding != ENCODED_UDATA4 ||
        header.table_encoding != ENCODED_DATAREL_SDATA4 ||
        (header.frame_encoding & ENCODED_SIZE) != ENCODED_UDATA4)
        return;
    module->header = at;
    module->table = at + sizeof(header);
    module->entries = header.count;
}

static void read_build_id(struct stack_module *module, struct stack_memory *memory, uint64_t at,
                          uint64_t bytes)
{
    uint8_t notes[NOTES_MAX];
    Elf64_Nhdr note;

    if (bytes > sizeof(notes) || !stack_memory_get(memory, at, notes, bytes))
        return;
    for (uint64_t place = 0; place + sizeof(note) <= bytes;) {
        uint64_t name, text;

        memcpy(&note, notes + place, sizeof(note));
        name = place + sizeof(note);
        text = name + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        if (text + note.n_descsz > bytes)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4) && note.n_descsz <= STACKS_BUILD_ID_MAX) {
            memcpy(module->build_id, notes + text, note.n_descsz);
            module->build_id_bytes = note.n_descsz;
            return;
        }
        place = text + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
    }
}

/* False: no ELF file of 64 bits stands there. */
static bool read_image(struct stack_module *module, struct stack_memory *memory,
                       uint64_t *image_end)
{
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Ehdr elf;
    bool has_bias = false;

    if (!stack_memory_get(memory, module->start, &elf, sizeof(elf)) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_phnum > HEADERS_MAX || elf.e_phentsize != sizeof(headers[0]) ||
        !stack_memory_get(memory, module->start + elf.e_phoff, headers,
                          elf.e_phnum * sizeof(headers[0])))
        return false;
    for (int i = 0; i < elf.e_phnum && !has_bias; i++) {
        has_bias = headers[i].p_type == PT_LOAD;
        if (has_bias)
            module->bias = module->start - (headers[i].p_vaddr - headers[i].p_offset);
    }
    module->entry = elf.e_entry ? module->bias + elf.e_entry : 0;
    *image_end = 0;
    for (int i = 0; has_bias && i < elf.e_phnum; i++)
        if (headers[i].p_type == PT_LOAD)
            *image_end = module->bias + headers[i].p_vaddr + headers[i].p_memsz;
        else if (headers[i].p_type == PT_GNU_EH_FRAME)
            read_unwind_header(module, memory, module->bias + headers[i].p_vaddr);
        else if (headers[i].p_type == PT_NOTE && !module->build_id_bytes)
            read_build_id(module, memory, module->bias + headers[i].p_vaddr, headers[i].p_filesz);
    return has_bias;
}

static bool is_same_file(const struct stack_modules *modules, const struct stack_mapping *mapping)
{
    const struct thread_stacks *stacks = modules->stacks;

    return stacks->module_count && mapping->inode == modules->inode &&
           mapping->device == modules->device &&
           !strcmp(mapping->path, stacks->modules[stacks->module_count - 1].path);
}

/* A part of a file that a program mapped once more, elsewhere, as V8 does with its builtins: known by the image that has the
 * same part. NULL: there is none. */
static const struct stack_module *image_of(const struct thread_stacks *stacks,
                                           const struct stack_mapping *mapping)
{
    for (uint32_t i = stacks->module_count; i > 0; i--)
        if (!strcmp(stacks->modules[i - 1].path, mapping->path) && stacks->modules[i - 1].start)
            return &stacks->modules[i - 1];
    return NULL;
}

static bool read_copy(struct stack_module *module, struct stack_memory *memory,
                      const struct stack_module *image, uint64_t offset)
{
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Ehdr elf;

    if (!image || !stack_memory_get(memory, image->start, &elf, sizeof(elf)) ||
        elf.e_phnum > HEADERS_MAX ||
        !stack_memory_get(memory, image->start + elf.e_phoff, headers,
                          elf.e_phnum * sizeof(headers[0])))
        return false;
    for (int i = 0; i < elf.e_phnum; i++)
        if (headers[i].p_type == PT_LOAD && offset - headers[i].p_offset < headers[i].p_filesz) {
            module->bias = module->start - (headers[i].p_vaddr + (offset - headers[i].p_offset));
            module->build_id_bytes = image->build_id_bytes;
            memcpy(module->build_id, image->build_id, sizeof(module->build_id));
            return true;
        }
    return false;
}

static bool reserve(struct thread_stacks *stacks)
{
    struct stack_module *grown;

    if (stacks->module_count % ROUND)
        return true;
    grown = reallocarray(stacks->modules, stacks->module_count + ROUND, sizeof(*grown));
    if (grown)
        stacks->modules = grown;
    return grown;
}

bool stack_modules_add(struct stack_modules *modules, const struct stack_mapping *mapping)
{
    struct thread_stacks *stacks = modules->stacks;
    struct stack_module module = { .start = mapping->start, .end = mapping->end };
    uint64_t image_end = 0;

    /* lld gives segments of a small file pages of their own in memory, and one in the file. */
    if (is_same_file(modules, mapping) && mapping->start < modules->image_end) {
        stacks->modules[stacks->module_count - 1].end = mapping->end;
        return true;
    }
    if (!mapping->path[0])
        return true;
    if (mapping->offset || !read_image(&module, modules->memory, &image_end)) {
        module = (struct stack_module){ .start = mapping->start, .end = mapping->end };
        if (!read_copy(&module, modules->memory, image_of(stacks, mapping), mapping->offset))
            return true;
        image_end = 0;
    }
    module.path = reserve(stacks) ? strdup(mapping->path) : NULL;
    if (!module.path)
        return false;
    module.file = modules->file_of(modules->context, mapping);
    modules->inode = mapping->inode;
    modules->device = mapping->device;
    modules->image_end = image_end;
    stacks->modules[stacks->module_count++] = module;
    return true;
}

const struct stack_module *stack_module_at(const struct thread_stacks *stacks, uint64_t address)
{
    uint32_t low = 0, high = stacks->module_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (address >= stacks->modules[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stacks->module_count && address >= stacks->modules[low].start
               ? &stacks->modules[low]
               : NULL;
}

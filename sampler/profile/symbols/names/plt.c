#include "plt.h"

#include "../../../include/isoscope/isoscope.h"
#include "plt_stub.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_BYTES_MAX = 16 * 1024,
    IFUNCS_MAX = 1024, /* a libc has dozens, most modules none; each is looked for in all symbols */
};

struct section {
    const uint8_t *bytes;
    uint64_t size, address;
};

struct slot {
    uint64_t address;
    uint32_t symbol;   /* of the dynamic ones; 0: none */
    uint64_t resolver; /* of an ifunc of the module itself */
};

struct plt {
    struct ranges *ranges;
    struct section symbols, texts;
    struct slot *slots;
    uint32_t slot_count;  /* by address */
    struct slot *numbers; /* those of .rela.plt, in its order */
    uint32_t number_count;
    uint32_t ifunc_count;
};

static bool open_section(struct elf_file *file, const char *name, struct section *out)
{
    *out = (struct section){ 0 };
    out->bytes = elf_file_section(file, name, &out->size, &out->address);
    return out->bytes != NULL;
}

static bool is_code_slot(uint16_t machine, uint64_t info)
{
    uint32_t type = ELF64_R_TYPE(info);

    if (machine == EM_X86_64)
        return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
               type == R_X86_64_IRELATIVE;
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_IRELATIVE;
}

static struct slot slot_of(const Elf64_Rela *relocation)
{
    uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);

    return (struct slot){ .address = relocation->r_offset,
                          .symbol = symbol,
                          .resolver = symbol ? 0 : (uint64_t)relocation->r_addend };
}

/* Appends what the section relocates to slots, which has room for it. */
static uint32_t read_relocations(const struct section *section, uint16_t machine, bool all,
                                 struct slot *slots)
{
    uint32_t count = 0;
    Elf64_Rela relocation;

    for (uint64_t at = 0; at + sizeof(relocation) <= section->size; at += sizeof(relocation)) {
        memcpy(&relocation, section->bytes + at, sizeof(relocation));
        if (all || is_code_slot(machine, relocation.r_info))
            slots[count++] = slot_of(&relocation);
    }
    return count;
}

static int by_address(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static int read_slots(struct plt *plt, struct elf_file *file, uint16_t machine)
{
    struct section lazy, other;
    uint64_t entries;

    open_section(file, ".rela.plt", &lazy);
    open_section(file, ".rela.dyn", &other);
    entries = lazy.size / sizeof(Elf64_Rela) + other.size / sizeof(Elf64_Rela);
    if (entries > INT32_MAX)
        return 0;
    plt->slots = calloc(entries + 1, sizeof(*plt->slots));
    plt->numbers = calloc(lazy.size / sizeof(Elf64_Rela) + 1, sizeof(*plt->numbers));
    if (!plt->slots || !plt->numbers)
        return -ISOSCOPE_NO_MEMORY;
    plt->number_count = read_relocations(&lazy, machine, true, plt->numbers);
    plt->slot_count = read_relocations(&lazy, machine, false, plt->slots);
    plt->slot_count += read_relocations(&other, machine, false, plt->slots + plt->slot_count);
    qsort(plt->slots, plt->slot_count, sizeof(*plt->slots), by_address);
    return 0;
}

static const char *dynamic_name(const struct plt *plt, uint32_t number)
{
    Elf64_Sym symbol;
    const char *name;

    if (number >= plt->symbols.size / sizeof(symbol))
        return NULL;
    memcpy(&symbol, plt->symbols.bytes + number * sizeof(symbol), sizeof(symbol));
    if (symbol.st_name >= plt->texts.size)
        return NULL;
    name = (const char *)plt->texts.bytes + symbol.st_name;
    return memchr(name, 0, plt->texts.size - symbol.st_name) && *name ? name : NULL;
}

static const char *resolver_name(const struct ranges *ranges, uint64_t resolver)
{
    const struct range_symbol *found = NULL;

    for (uint32_t i = 0; i < ranges->symbol_count; i++) {
        const struct range_symbol *symbol = &ranges->symbols[i];

        if (symbol->start == resolver &&
            (!found || (symbol->resolver && !found->resolver) ||
             (symbol->resolver == found->resolver && symbol->rank < found->rank)))
            found = symbol;
    }
    return found ? ranges->texts + found->name : NULL;
}

static const struct slot *slot_at(const struct plt *plt, const struct plt_stub *stub)
{
    struct slot wanted = { .address = stub->target };

    if (!stub->by_slot)
        return stub->target < plt->number_count ? &plt->numbers[stub->target] : NULL;
    return bsearch(&wanted, plt->slots, plt->slot_count, sizeof(wanted), by_address);
}

/* end: of the stub. limit: of its section. */
static int add_stub(struct plt *plt, const struct plt_stub *stub, uint64_t end, uint64_t limit)
{
    const struct slot *slot = slot_at(plt, stub);
    const char *callee = NULL;
    char name[NAME_BYTES_MAX];
    int bytes;

    if (slot && slot->symbol)
        callee = dynamic_name(plt, slot->symbol);
    else if (slot && slot->resolver && plt->ifunc_count++ < IFUNCS_MAX)
        callee = resolver_name(plt->ranges, slot->resolver);
    if (!callee)
        return 0;
    bytes = snprintf(name, sizeof(name), "%s@plt", callee);
    if (bytes >= (int)sizeof(name))
        return 0;
    return ranges_add(plt->ranges, &(struct elf_function){ .name = name,
                                                           .name_bytes = (size_t)bytes,
                                                           .start = stub->start,
                                                           .size = end - stub->start,
                                                           .limit = limit });
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct stub_kind {
    plt_stub_decoder *decode;
    uint64_t step, bytes_max;
};

static int read_section(struct plt *plt, const struct section *section,
                        const struct stub_kind *kind)
{
    uint64_t limit = section->address + section->size;
    struct plt_stub stub, last = { 0 };
    bool open = false;
    int error = 0;

    for (uint64_t at = 0; at < section->size && !error; at += kind->step) {
        if (!kind->decode(section->bytes + at, section->size - at, section->address + at, &stub))
            continue;
        if (open)
            error = add_stub(plt, &last, smaller(stub.start, last.start + kind->bytes_max), limit);
        last = stub;
        open = true;
    }
    if (open && !error)
        error = add_stub(plt, &last, smaller(limit, last.start + kind->bytes_max), limit);
    return error;
}

static int read_stubs(struct plt *plt, struct elf_file *file, uint16_t machine)
{
    static const char *const names[] = { ".plt", ".plt.got", ".plt.sec", ".iplt" };
    static const struct stub_kind x86_64 = { plt_x86_64_stub, PLT_X86_64_STEP, PLT_X86_64_BYTES };
    static const struct stub_kind aarch64 = { plt_aarch64_stub, PLT_AARCH64_STEP,
                                              PLT_AARCH64_BYTES };
    struct section section;
    int error = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !error; i++)
        if (open_section(file, names[i], &section))
            error = read_section(plt, &section, machine == EM_AARCH64 ? &aarch64 : &x86_64);
    return error;
}

int plt_add(struct ranges *ranges, struct elf_file *file)
{
    uint16_t machine = elf_file_machine(file);
    struct plt plt = { .ranges = ranges };
    int error;

    if (machine != EM_X86_64 && machine != EM_AARCH64)
        return 0;
    open_section(file, ".dynsym", &plt.symbols);
    open_section(file, ".dynstr", &plt.texts);
    error = read_slots(&plt, file, machine);
    if (!error)
        error = read_stubs(&plt, file, machine);
    free(plt.slots);
    free(plt.numbers);
    return error;
}

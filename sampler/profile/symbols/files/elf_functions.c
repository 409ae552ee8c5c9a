#include "elf_functions.h"

#include "elf_section.h"

#include <string.h>

enum { NAME_BYTES_MAX = 1 << 16 }; /* of one function */

/* Many symbols may share one long name: what is copied of them in all. */
static const uint64_t names_bytes_max = UINT64_C(1) << 29;

/* One symbol's section after the other is asked for, and most are in the same one. */
struct known_section {
    size_t number;
    bool code;           /* else variables */
    uint64_t start, end; /* equal: neither is in it */
};

/* What is written once, by the loader, has no locks in it, and many names: tables of virtual functions. */
static bool has_variables(Elf *elf, const GElf_Shdr *header)
{
    static const char fixed[] = ".data.rel.ro";
    size_t names;
    const char *name =
        elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header->sh_name) : NULL;

    return header->sh_flags & SHF_WRITE && !(header->sh_flags & SHF_TLS) && name &&
           strncmp(name, fixed, sizeof fixed - 1) != 0;
}

static void look_at_section(Elf *elf, size_t number, struct known_section *out)
{
    Elf_Scn *section = elf_getscn(elf, number);
    GElf_Shdr header;

    *out = (struct known_section){ .number = number };
    if (!section || !gelf_getshdr(section, &header))
        return;
    out->code = header.sh_flags & SHF_EXECINSTR;
    if (!out->code && !has_variables(elf, &header))
        return;
    out->start = header.sh_addr;
    out->end = header.sh_addr + header.sh_size;
}

/* False: the symbol is no function, and no variable. section: that of an earlier symbol. */
static bool is_function(Elf *elf, const Elf64_Sym *symbol, struct known_section *section,
                        struct elf_function *out)
{
    int type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);

    if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE && type != STT_OBJECT) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
        return false;
    if (section->number != symbol->st_shndx)
        look_at_section(elf, symbol->st_shndx, section);
    if (section->code == (type == STT_OBJECT) || (!section->code && !symbol->st_size))
        return false;
    if (symbol->st_value - section->start >= section->end - section->start)
        return false;
    out->start = symbol->st_value;
    out->size = symbol->st_size;
    out->limit = section->end;
    out->global = binding == STB_GLOBAL || binding == STB_GNU_UNIQUE;
    out->weak = binding == STB_WEAK;
    out->label = type == STT_NOTYPE;
    out->variable = type == STT_OBJECT;
    out->resolver = type == STT_GNU_IFUNC;
    return true;
}

/* The same bytes in every file that elf_file opens, wherever they lie. */
static Elf64_Sym symbol_at(const Elf_Data *data, size_t number)
{
    Elf64_Sym symbol;

    memcpy(&symbol, (const char *)data->d_buf + number * sizeof(symbol), sizeof(symbol));
    return symbol;
}

/* False: each said so. */
static bool functions_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         bool (*each)(void *context, const struct elf_function *function),
                         void *context)
{
    Elf_Data *data = elf_section_data(section, header);
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    const struct elf_texts texts = elf_texts_of(elf, header->sh_link);
    struct known_section code = { .number = SHN_UNDEF };
    struct elf_function function;
    uint64_t named = 0;
    uint32_t source = 0;

    /* Symbol 0 stands for none. */
    for (size_t i = 1; i < count && i < INT32_MAX && named < names_bytes_max; i++) {
        const Elf64_Sym symbol = symbol_at(data, i);

        /* It comes before the local symbols that it is the file of. */
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE)
            source++;
        if (!is_function(elf, &symbol, &code, &function))
            continue;
        function.file = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? source : 0;
        function.name = elf_text_at(&texts, symbol.st_name);
        function.name_bytes = strnlen(function.name, NAME_BYTES_MAX);
        /* "$x" marks where code begins on some machines; it names nothing. */
        if (!function.name_bytes || function.name_bytes == NAME_BYTES_MAX ||
            function.name[0] == '$')
            continue;
        named += function.name_bytes;
        if (!each(context, &function))
            return false;
    }
    return true;
}

void elf_functions(struct elf_file *file,
                   bool (*each)(void *context, const struct elf_function *function), void *context)
{
    Elf *elf = elf_file_elf(file);
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
            !functions_in(elf, section, &header, each, context))
            return;
}

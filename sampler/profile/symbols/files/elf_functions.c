#include "elf_functions.h"

#include "elf_section.h"

#include <string.h>

enum { NAME_BYTES_MAX = 1 << 16 }; /* of one function */

/* Many symbols may share one long name: what is copied of them in all. */
static const uint64_t names_bytes_max = UINT64_C(1) << 29;

/* False: the symbol is no function. */
static bool is_function(Elf *elf, const GElf_Sym *symbol, struct elf_function *out)
{
    int type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    Elf_Scn *section;
    GElf_Shdr header;

    if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
        return false;
    section = elf_getscn(elf, symbol->st_shndx);
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
        symbol->st_value < header.sh_addr || symbol->st_value - header.sh_addr >= header.sh_size)
        return false;
    out->start = symbol->st_value;
    out->size = symbol->st_size;
    out->limit = header.sh_addr + header.sh_size;
    out->global = binding == STB_GLOBAL || binding == STB_GNU_UNIQUE;
    out->weak = binding == STB_WEAK;
    out->label = type == STT_NOTYPE;
    out->resolver = type == STT_GNU_IFUNC;
    return true;
}

static void functions_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         bool (*each)(void *context, const struct elf_function *function),
                         void *context)
{
    Elf_Data *data = elf_section_data(section, header);
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    const struct elf_texts texts = elf_texts_of(elf, header->sh_link);
    struct elf_function function;
    GElf_Sym symbol;
    uint64_t named = 0;
    uint32_t source = 0;

    /* Symbol 0 stands for none. */
    for (size_t i = 1; i < count && i < INT32_MAX && named < names_bytes_max; i++) {
        size_t bytes;

        if (!gelf_getsym(data, (int)i, &symbol))
            continue;
        /* It comes before the local symbols that it is the file of. */
        if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
            source++;
        if (!is_function(elf, &symbol, &function))
            continue;
        function.file = GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? source : 0;
        function.name = elf_text_at(&texts, symbol.st_name);
        bytes = strnlen(function.name, NAME_BYTES_MAX);
        /* "$x" marks where code begins on some machines; it names nothing. */
        if (!bytes || bytes == NAME_BYTES_MAX || function.name[0] == '$')
            continue;
        named += bytes;
        if (!each(context, &function))
            return;
    }
}

void elf_functions(struct elf_file *file,
                   bool (*each)(void *context, const struct elf_function *function), void *context)
{
    Elf *elf = elf_file_elf(file);
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            functions_in(elf, section, &header, each, context);
}

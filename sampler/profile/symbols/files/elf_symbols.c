#include "elf_symbols.h"

#include "elf_section.h"

#include <string.h>

enum { NAME_BYTES_MAX = 4096 };

/* The same bytes in every file that elf_file opens, wherever they lie. */
static Elf64_Sym symbol_at(const Elf_Data *data, size_t number)
{
    Elf64_Sym symbol;

    memcpy(&symbol, (const char *)data->d_buf + number * sizeof(symbol), sizeof(symbol));
    return symbol;
}

/* False: it names no place of this file. */
static bool take(const Elf64_Sym *symbol, const struct elf_texts *texts, struct elf_symbol *out)
{
    int type = ELF64_ST_TYPE(symbol->st_info);
    const char *version;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
        (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_TLS))
        return false;
    out->name = elf_text_at(texts, symbol->st_name);
    out->name_bytes = strnlen(out->name, NAME_BYTES_MAX);
    version = memchr(out->name, '@', out->name_bytes);
    if (version)
        out->name_bytes = (size_t)(version - out->name);
    out->value = symbol->st_value;
    out->size = symbol->st_size;
    out->code = type == STT_FUNC;
    return out->name_bytes && out->name_bytes < NAME_BYTES_MAX;
}

/* False: each said so. */
static bool symbols_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       bool (*each)(void *context, const struct elf_symbol *symbol), void *context)
{
    Elf_Data *data = elf_section_data(section, header);
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    const struct elf_texts texts = elf_texts_of(elf, header->sh_link);
    struct elf_symbol symbol;

    /* Symbol 0 stands for none. */
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        const Elf64_Sym raw = symbol_at(data, i);

        if (take(&raw, &texts, &symbol) && !each(context, &symbol))
            return false;
    }
    return true;
}

void elf_symbols(struct elf_file *file, bool exported,
                 bool (*each)(void *context, const struct elf_symbol *symbol), void *context)
{
    Elf *elf = elf_file_elf(file);
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_DYNSYM || (header.sh_type == SHT_SYMTAB && !exported)) &&
            !symbols_in(elf, section, &header, each, context))
            return;
}

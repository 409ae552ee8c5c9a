#include "elf_section.h"

#include <string.h>

/* A section above it, perhaps a hole in a sparse file, is not read. */
static const uint64_t section_bytes_max = UINT64_C(1) << 31;

Elf_Data *elf_section_data(Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = NULL;

    if (header->sh_type != SHT_NOBITS && header->sh_size <= section_bytes_max)
        data = elf_getdata(section, NULL);
    return data && data->d_buf ? data : NULL;
}

/* Not elf_strptr: it looks for the end of each text anew, all the way where there is none. */
struct elf_texts elf_texts_of(Elf *elf, size_t number)
{
    Elf_Scn *section = elf_getscn(elf, number);
    GElf_Shdr header;
    Elf_Data *data = NULL;
    const char *end;

    if (section && gelf_getshdr(section, &header))
        data = elf_section_data(section, &header);
    end = data ? memrchr(data->d_buf, 0, data->d_size) : NULL;
    if (!end)
        return (struct elf_texts){ 0 };
    return (struct elf_texts){ data->d_buf, (size_t)(end - (const char *)data->d_buf) };
}

const char *elf_text_at(const struct elf_texts *texts, size_t place)
{
    return texts->bytes && place <= texts->last_end ? texts->bytes + place : "";
}

/*
 * elf_section.h - the bytes of a section, and the texts in one, whatever the file claims.
 *
 * Ownership  Lent by libelf, until elf_end.
 */
#ifndef ISOSCOPE_ELF_SECTION_H
#define ISOSCOPE_ELF_SECTION_H

#include <gelf.h>

/* Texts one after the other; what lies behind the last end is none. */
struct elf_texts {
    const char *bytes; /* NULL: there are none */
    size_t last_end;
};

/* NULL: it has no bytes, or they cannot be read. */
Elf_Data *elf_section_data(Elf_Scn *section, const GElf_Shdr *header);
/* Those in the section of that number. */
struct elf_texts elf_texts_of(Elf *elf, size_t number);
/* "" for a place where there is none. */
const char *elf_text_at(const struct elf_texts *texts, size_t place);

#endif

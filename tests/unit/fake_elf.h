/*
 * fake_elf.h - small ELF files whose symbols the test chooses.
 *
 * One section of code at FAKE_TEXT, FAKE_TEXT_BYTES long; a symbol table; a build id note.
 */
#ifndef FAKE_ELF_H
#define FAKE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAKE_TEXT = 0x1000, FAKE_TEXT_BYTES = 0x1000, FAKE_SYMBOLS_MAX = 32 };

struct fake_symbol {
    const char *name;
    uint64_t start, size;
    uint8_t bind, type; /* STB_*, STT_* */
};

struct fake_elf {
    struct fake_symbol symbols[FAKE_SYMBOLS_MAX];
    uint8_t build_id[20];  /* all zeros: no note */
    const char *debuglink; /* NULL: none */
    uint32_t debuglink_crc;
    const char *extra_name; /* of one section more; NULL: none */
    const void *extra;
    size_t extra_bytes;
    uint8_t class;     /* 0: ELFCLASS64 */
    uint8_t data;      /* 0: ELFDATA2LSB */
    bool no_symtab;    /* as if stripped */
    size_t cut_off_at; /* 0: the whole file */
    size_t lie_at;     /* 0: nowhere; this byte is another one */
};

enum {
    FAKE_NULL,
    FAKE_CODE,
    FAKE_SYMTAB,
    FAKE_STRTAB,
    FAKE_NOTE,
    FAKE_LINK,
    FAKE_EXTRA,
    FAKE_SECTIONS
};

struct fake_elf_image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[FAKE_SECTIONS];
    Elf64_Sym symbols[FAKE_SYMBOLS_MAX + 1];
    struct {
        Elf64_Nhdr head;
        char name[4];
        uint8_t build_id[20];
    } note;
    char link[64];
    char names[4096];
};

static inline uint32_t fake_elf_name(struct fake_elf_image *image, uint32_t *used, const char *name)
{
    uint32_t at = *used;

    strcpy(image->names + at, name);
    *used += (uint32_t)strlen(name) + 1;
    return at;
}

#define FAKE_PART(part)                                                                            \
    .sh_offset = offsetof(struct fake_elf_image, part),                                            \
    .sh_size = sizeof(((struct fake_elf_image *)0)->part)

static inline void fake_elf_fill(struct fake_elf_image *image, const struct fake_elf *elf)
{
    uint32_t used = 1, count = 0;

    for (; elf->symbols[count].name; count++)
        image->symbols[count + 1] = (Elf64_Sym){
            .st_name = fake_elf_name(image, &used, elf->symbols[count].name),
            .st_info = ELF64_ST_INFO(elf->symbols[count].bind, elf->symbols[count].type),
            .st_shndx = FAKE_CODE,
            .st_value = elf->symbols[count].start,
            .st_size = elf->symbols[count].size,
        };
    image->sections[FAKE_CODE] = (Elf64_Shdr){ .sh_type = SHT_NOBITS,
                                               .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                               .sh_addr = FAKE_TEXT,
                                               .sh_size = FAKE_TEXT_BYTES };
    image->sections[FAKE_SYMTAB] =
        (Elf64_Shdr){ FAKE_PART(symbols), .sh_type = SHT_SYMTAB, .sh_link = FAKE_STRTAB,
                      .sh_entsize = sizeof(Elf64_Sym) };
    image->sections[FAKE_SYMTAB].sh_size = (count + 1) * sizeof(Elf64_Sym);
    if (elf->no_symtab)
        image->sections[FAKE_SYMTAB].sh_type = SHT_NULL;
    image->sections[FAKE_STRTAB] = (Elf64_Shdr){ FAKE_PART(names), .sh_type = SHT_STRTAB };
    image->note.head = (Elf64_Nhdr){ 4, sizeof(image->note.build_id), NT_GNU_BUILD_ID };
    memcpy(image->note.name, "GNU", 4);
    memcpy(image->note.build_id, elf->build_id, sizeof(elf->build_id));
    if (elf->build_id[0])
        image->sections[FAKE_NOTE] =
            (Elf64_Shdr){ FAKE_PART(note), .sh_type = SHT_NOTE, .sh_addralign = 4 };
    if (elf->debuglink) {
        strcpy(image->link, elf->debuglink);
        memcpy(image->link + (strlen(elf->debuglink) + 4) / 4 * 4, &elf->debuglink_crc, 4);
        image->sections[FAKE_LINK] = (Elf64_Shdr){ FAKE_PART(link), .sh_type = SHT_PROGBITS };
        image->sections[FAKE_LINK].sh_name = fake_elf_name(image, &used, ".gnu_debuglink");
    }
    if (elf->extra_name) {
        image->sections[FAKE_EXTRA] = (Elf64_Shdr){ .sh_offset = sizeof(*image),
                                                    .sh_size = elf->extra_bytes,
                                                    .sh_type = SHT_PROGBITS };
        image->sections[FAKE_EXTRA].sh_name = fake_elf_name(image, &used, elf->extra_name);
    }
    image->header = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                                               elf->class ? elf->class : ELFCLASS64,
                                               elf->data ? elf->data : ELFDATA2LSB, EV_CURRENT },
                                  .e_type = ET_DYN,
                                  .e_machine = EM_X86_64,
                                  .e_version = EV_CURRENT,
                                  .e_ehsize = sizeof(Elf64_Ehdr),
                                  .e_shoff = offsetof(struct fake_elf_image, sections),
                                  .e_shentsize = sizeof(Elf64_Shdr),
                                  .e_shnum = FAKE_SECTIONS,
                                  .e_shstrndx = FAKE_STRTAB };
}

static inline void fake_elf_write(const char *path, const struct fake_elf *elf)
{
    struct fake_elf_image *image = calloc(1, sizeof(*image));
    FILE *file = fopen(path, "wb");

    if (!image || !file)
        abort();
    fake_elf_fill(image, elf);
    if (elf->lie_at)
        ((uint8_t *)image)[elf->lie_at] ^= 0xa5;
    fwrite(image, elf->cut_off_at ? elf->cut_off_at : sizeof(*image), 1, file);
    if (elf->extra_bytes)
        fwrite(elf->extra, elf->extra_bytes, 1, file);
    fclose(file);
    free(image);
}

/* A new directory. */
static inline void fake_directory(char path[64])
{
    strcpy(path, "/tmp/isoscope-test-XXXXXX");
    if (!mkdtemp(path))
        abort();
}

static inline void fake_directory_remove(const char *path)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r '%s'", path);
    if (system(command) != 0)
        abort();
}

#endif

#include "elf_image.h"

#include "../system/memory.h"
#include "../system/pages.h"

#include <string.h>

static SIGNAL_SAFE void read_head(struct elf_head *head, int32_t pid, uint64_t start)
{
    head->pid = pid;
    head->start = start;
    head->bytes = memory_read_some(pid, head->text, start, sizeof head->text);
}

/* All of it, or false. */
static SIGNAL_SAFE bool read_part(const struct elf_head *head, void *out, uint64_t address,
                                  uint64_t bytes)
{
    uint64_t at = address - head->start, held = head->bytes > 0 ? (uint64_t)head->bytes : 0;

    if (at > held || bytes > held - at)
        return memory_read(head->pid, out, address, bytes);
    memcpy(out, head->text + at, bytes);
    return true;
}

static SIGNAL_SAFE bool header_fits(const Elf64_Ehdr *header)
{
    return !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0 &&
           header->e_phnum <= ELF_PHDRS_MAX;
}

/* GNU notes: name size, content size, type, name, content; each padded to 4 bytes. */
static SIGNAL_SAFE void find_build_id(struct elf_image *out, const uint8_t *notes, uint64_t bytes)
{
    while (bytes >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        uint64_t name_bytes, content_bytes, whole;

        memcpy(&note, notes, sizeof note);
        name_bytes = ((uint64_t)note.n_namesz + 3) & ~3ull;
        content_bytes = ((uint64_t)note.n_descsz + 3) & ~3ull;
        whole = sizeof note + name_bytes + content_bytes;
        if (whole > bytes)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(notes + sizeof note, "GNU", 4) && note.n_descsz <= FEED_BUILD_ID_MAX) {
            out->build_id_bytes = note.n_descsz;
            memcpy(out->build_id, notes + sizeof note + name_bytes, note.n_descsz);
            return;
        }
        notes += whole;
        bytes -= whole;
    }
}

static SIGNAL_SAFE void read_notes(struct elf_image *out, struct elf_scratch *scratch,
                                   const Elf64_Phdr *phdr)
{
    uint64_t room = sizeof scratch->notes;
    uint64_t bytes = phdr->p_filesz < room ? phdr->p_filesz : room;

    if (!out->build_id_bytes &&
        read_part(&scratch->head, scratch->notes, out->bias + phdr->p_vaddr, bytes))
        find_build_id(out, scratch->notes, bytes);
}

/* The segment that begins first in the file was mapped at start, and tells the bias. */
static SIGNAL_SAFE bool find_bias(struct elf_image *out, const Elf64_Phdr *phdrs, unsigned count,
                                  uint64_t start)
{
    const Elf64_Phdr *first = NULL;

    for (unsigned i = 0; i < count; i++)
        if (phdrs[i].p_type == PT_LOAD && (!first || phdrs[i].p_offset < first->p_offset))
            first = &phdrs[i];
    if (!first)
        return false;
    out->bias = start - (first->p_vaddr - first->p_offset);
    return true;
}

static SIGNAL_SAFE void take_phdr(struct elf_image *out, struct elf_scratch *scratch,
                                  const Elf64_Phdr *phdr)
{
    switch (phdr->p_type) {
    case PT_LOAD:
        if (out->segment_count < sizeof out->segments / sizeof out->segments[0]) {
            out->segments[out->segment_count].vaddr = phdr->p_vaddr;
            out->segments[out->segment_count].memory_bytes = phdr->p_memsz;
            out->segments[out->segment_count++].bytes = phdr->p_filesz;
        }
        break;
    case PT_GNU_EH_FRAME:
        out->eh_frame_hdr = phdr->p_vaddr;
        out->eh_frame_hdr_bytes = phdr->p_memsz;
        break;
    case PT_NOTE:
        read_notes(out, scratch, phdr);
        break;
    }
}

bool elf_image_read(struct elf_image *out, struct elf_scratch *scratch, int32_t pid, uint64_t start)
{
    const Elf64_Phdr *phdrs = scratch->phdrs;
    Elf64_Ehdr header;

    memset(out, 0, sizeof *out);
    read_head(&scratch->head, pid, start);
    if (!read_part(&scratch->head, &header, start, sizeof header) || !header_fits(&header) ||
        !read_part(&scratch->head, scratch->phdrs, start + header.e_phoff,
                   header.e_phnum * sizeof *phdrs) ||
        !find_bias(out, phdrs, header.e_phnum, start))
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++)
        take_phdr(out, scratch, &phdrs[i]);
    return true;
}

bool elf_image_holds(const struct elf_image *image, uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < image->segment_count; i++) {
        uint64_t start = image->bias + image->segments[i].vaddr;

        if (start < high && low < start + image->segments[i].memory_bytes)
            return true;
    }
    return false;
}

#include "table_source.h"

#include "../../capture/system/memory.h"
#include "../../feed/cleanup.h"
#include "../symbols/files/elf_file.h"
#include "go_frames.h"
#include "table_build.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PHDRS_MAX = 64, UNWIND_BYTES_MAX = 1 << 29 };

/* A module as its file has it, or as a process does. */
struct source {
    int fd;      /* -1: memory */
    int32_t pid; /* whose */
    uint64_t start;
    uint64_t bias; /* of memory */
    Elf64_Phdr phdrs[PHDRS_MAX];
    unsigned count;
};

/* Where the file begins and so on: an offset in the file, which is mapped from its start on. */
static bool read_head(const struct source *source, void *out, uint64_t offset, uint64_t bytes)
{
    if (source->fd >= 0)
        return pread(source->fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
    return memory_read(source->pid, out, source->start + offset, bytes);
}

static const Elf64_Phdr *segment_of(const struct source *source, uint64_t vaddr)
{
    for (unsigned i = 0; i < source->count; i++) {
        const Elf64_Phdr *phdr = &source->phdrs[i];

        if (phdr->p_type == PT_LOAD && vaddr >= phdr->p_vaddr &&
            vaddr - phdr->p_vaddr < phdr->p_filesz)
            return phdr;
    }
    return NULL;
}

static bool read_vaddr(const struct source *source, void *out, uint64_t vaddr, uint64_t bytes)
{
    const Elf64_Phdr *segment = segment_of(source, vaddr);

    if (!segment || bytes > segment->p_filesz - (vaddr - segment->p_vaddr))
        return false;
    if (source->fd < 0)
        return memory_read(source->pid, out, source->bias + vaddr, bytes);
    return pread(source->fd, out, bytes, (off_t)(vaddr - segment->p_vaddr + segment->p_offset)) ==
           (ssize_t)bytes;
}

static bool read_phdrs(struct source *source)
{
    Elf64_Ehdr header;

    if (!read_head(source, &header, 0, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > PHDRS_MAX ||
        !read_head(source, source->phdrs, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
        return false;
    source->count = header.e_phnum;
    for (unsigned i = 0; i < source->count; i++)
        if (source->phdrs[i].p_type == PT_LOAD) {
            source->bias = source->start - (source->phdrs[i].p_vaddr - source->phdrs[i].p_offset);
            return true;
        }
    return false;
}

static void free_bytes(uint8_t **bytes)
{
    free(*bytes);
}

static uint8_t *copy_of(const struct source *source, uint64_t vaddr, uint64_t bytes)
{
    uint8_t *copy = bytes && bytes <= UNWIND_BYTES_MAX ? malloc(bytes) : NULL;

    if (copy && read_vaddr(source, copy, vaddr, bytes))
        return copy;
    free(copy);
    return NULL;
}

/* Where .eh_frame ends stands in no program header; what lies behind it does no harm. */
static struct unwind_table *table_of(const struct source *source, const Elf64_Phdr *found,
                                     const struct go_frames *go)
{
    CLEANUP(free_bytes) uint8_t *head = copy_of(source, found->p_vaddr, found->p_filesz);
    CLEANUP(free_bytes) uint8_t *frames = NULL;
    const Elf64_Phdr *segment;
    struct cfi_header header;
    uint64_t bytes;

    if (!head ||
        !cfi_header_read(&header, &(struct cfi_bytes){ head, found->p_filesz, found->p_vaddr }))
        return NULL;
    segment = segment_of(source, header.eh_frame_vaddr);
    if (!segment)
        return NULL;
    bytes = segment->p_filesz - (header.eh_frame_vaddr - segment->p_vaddr);
    frames = copy_of(source, header.eh_frame_vaddr, bytes);
    if (!frames)
        return NULL;
    return table_build(&header, &(struct cfi_bytes){ frames, bytes, header.eh_frame_vaddr }, go);
}

/* Linked statically, a program may have no header; its file says where its unwind data is. Go's has none at
 * all for its own code. */
static struct unwind_table *table_without_header(struct elf_file *file, const struct go_frames *go)
{
    struct cfi_bytes frames = { NULL, 0, 0 };

    frames.bytes = elf_file_section(file, ".eh_frame", &frames.size, &frames.vaddr);
    if (!frames.bytes)
        frames = (struct cfi_bytes){ NULL, 0, 0 };
    if (!frames.bytes && !go)
        return NULL;
    return table_build(&(struct cfi_header){ .eh_frame_vaddr = frames.vaddr }, &frames, go);
}

static bool build_table(struct source *source, struct elf_file *file, const struct go_frames *go,
                        struct unwind_table **out)
{
    *out = NULL;
    if (!read_phdrs(source))
        return false;
    for (unsigned i = 0; i < source->count && !*out; i++)
        if (source->phdrs[i].p_type == PT_GNU_EH_FRAME)
            *out = table_of(source, &source->phdrs[i], go);
    if (!*out && file)
        *out = table_without_header(file, go);
    return true;
}

/* The kernel's vdso is the same in all processes. */
static struct source vdso(void)
{
    return (struct source){ .fd = -1, .pid = getpid(), .start = getauxval(AT_SYSINFO_EHDR) };
}

bool table_source_build(const struct module_file *module, struct unwind_table **out,
                        bool *stripped_go)
{
    CLEANUP(elf_file_closep) struct elf_file *file = NULL;
    CLEANUP(go_frames_free) struct go_frames go = { 0 };
    struct source source = { .fd = -1, .pid = module->pid, .start = module->address };
    enum go_found found = GO_NONE;
    const char *reason;

    if (!strcmp(module->path, "[vdso]"))
        source = vdso();
    else if ((file = module_file_open(module, &reason)))
        source = (struct source){ .fd = elf_file_fd(file) };
    if (file)
        found = go_frames_read(&go, file);
    *stripped_go = found == GO_STRIPPED;
    return build_table(&source, file, found == GO_READ ? &go : NULL, out);
}

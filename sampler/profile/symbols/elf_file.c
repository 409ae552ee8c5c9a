#include "elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf_file {
    Elf *elf;
    int fd; /* -1: an image in memory */
};

static void choose_version(void)
{
    elf_version(EV_CURRENT);
}

/* The kernel's own: trusted. It has no length anywhere, but its section headers come last. */
static Elf *open_vdso(const char **reason)
{
    Elf64_Ehdr *image = (Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

    if (!image) {
        *reason = "this process has no vdso";
        return NULL;
    }
    return elf_memory((char *)image, image->e_shoff + (size_t)image->e_shnum * image->e_shentsize);
}

/* Only regular files: opening a pipe or a device could wait for ever. */
static int open_regular(const char *path, const char **reason)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat file;

    if (fd < 0) {
        *reason = "the file cannot be opened";
        return -1;
    }
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode)) {
        close(fd);
        *reason = "not a regular file";
        return -1;
    }
    return fd;
}

struct elf_file *elf_file_open(const char *path, const char **reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct elf_file *file = malloc(sizeof(*file));

    pthread_once(&once, choose_version);
    *reason = "out of memory";
    if (!file)
        return NULL;
    file->fd = -1;
    file->elf = NULL;
    *reason = "not a 64-bit ELF file";
    /* Read, not mapped: a file that is cut off meanwhile must not end us with SIGBUS. */
    if (!strcmp(path, "[vdso]"))
        file->elf = open_vdso(reason);
    else if ((file->fd = open_regular(path, reason)) >= 0)
        file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || gelf_getclass(file->elf) != ELFCLASS64) {
        elf_file_close(file);
        return NULL;
    }
    return file;
}

void elf_file_close(struct elf_file *file)
{
    if (!file)
        return;
    if (file->elf)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file);
}

void elf_file_closep(struct elf_file **file)
{
    elf_file_close(*file);
}

static uint32_t build_id_in(Elf_Data *notes, uint8_t out[FEED_BUILD_ID_MAX])
{
    size_t at = 0, name_at, bytes_at, next;
    GElf_Nhdr note;

    while (notes && (next = gelf_getnote(notes, at, &note, &name_at, &bytes_at)) > 0) {
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
            !memcmp((char *)notes->d_buf + name_at, "GNU", sizeof("GNU"))) {
            uint32_t bytes = note.n_descsz < FEED_BUILD_ID_MAX ? note.n_descsz : FEED_BUILD_ID_MAX;

            memcpy(out, (char *)notes->d_buf + bytes_at, bytes);
            return bytes;
        }
        at = next;
    }
    return 0;
}

static uint32_t build_id_in_segments(struct elf_file *file, uint8_t out[FEED_BUILD_ID_MAX])
{
    size_t count = 0;
    uint32_t bytes = 0;
    GElf_Phdr segment;

    if (elf_getphdrnum(file->elf, &count) < 0)
        return 0;
    for (size_t i = 0; i < count && !bytes; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_NOTE)
            continue;
        bytes =
            build_id_in(elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset, segment.p_filesz,
                                             segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
                        out);
    }
    return bytes;
}

uint32_t elf_file_build_id(struct elf_file *file, uint8_t out[FEED_BUILD_ID_MAX])
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    uint32_t bytes;

    /* Sections first: in a separate debug file the segments point to what is not there. */
    while ((section = elf_nextscn(file->elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
            continue;
        bytes = build_id_in(elf_getdata(section, NULL), out);
        if (bytes)
            return bytes;
    }
    return build_id_in_segments(file, out);
}

static const char *section_name(struct elf_file *file, const GElf_Shdr *header)
{
    size_t names;
    const char *name = NULL;

    if (elf_getshdrstrndx(file->elf, &names) == 0)
        name = elf_strptr(file->elf, names, header->sh_name);
    return name ? name : "";
}

const uint8_t *elf_file_section(struct elf_file *file, const char *name, uint64_t *size,
                                uint64_t *address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(file->elf, section))) {
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            strcmp(section_name(file, &header), name) != 0)
            continue;
        data = elf_getdata(section, NULL);
        if (!data || !data->d_buf)
            continue;
        *size = data->d_size;
        *address = header.sh_addr;
        return data->d_buf;
    }
    return NULL;
}

const char *elf_file_debuglink(struct elf_file *file)
{
    uint64_t size, address;
    const uint8_t *link = elf_file_section(file, ".gnu_debuglink", &size, &address);

    return link && memchr(link, 0, size) ? (const char *)link : NULL;
}

bool elf_file_has_symtab(struct elf_file *file)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(file->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    return false;
}

bool elf_file_has_dwarf(struct elf_file *file)
{
    uint64_t size, address;

    return elf_file_section(file, ".debug_info", &size, &address) ||
           elf_file_section(file, ".zdebug_info", &size, &address);
}

Elf *elf_file_elf(struct elf_file *file)
{
    return file->elf;
}

/* False: the symbol is no function. */
static bool is_function(struct elf_file *file, const GElf_Sym *symbol, struct elf_function *out)
{
    int type = GELF_ST_TYPE(symbol->st_info), binding = GELF_ST_BIND(symbol->st_info);
    Elf_Scn *section;
    GElf_Shdr header;

    if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
        return false;
    section = elf_getscn(file->elf, symbol->st_shndx);
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
        symbol->st_value < header.sh_addr || symbol->st_value - header.sh_addr >= header.sh_size)
        return false;
    out->start = symbol->st_value;
    out->size = symbol->st_size;
    out->limit = header.sh_addr + header.sh_size;
    out->global = binding == STB_GLOBAL || binding == STB_GNU_UNIQUE;
    out->weak = binding == STB_WEAK;
    out->label = type == STT_NOTYPE;
    return true;
}

static void functions_in(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header,
                         bool (*each)(void *context, const struct elf_function *function),
                         void *context)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    struct elf_function function;
    GElf_Sym symbol;

    /* Symbol 0 stands for none. */
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || !is_function(file, &symbol, &function))
            continue;
        function.name = elf_strptr(file->elf, header->sh_link, symbol.st_name);
        /* "$x" marks where code begins on some machines; it names nothing. */
        if (function.name && function.name[0] && function.name[0] != '$' &&
            !each(context, &function))
            return;
    }
}

void elf_file_functions(struct elf_file *file,
                        bool (*each)(void *context, const struct elf_function *function),
                        void *context)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(file->elf, section)))
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            functions_in(file, section, &header, each, context);
}

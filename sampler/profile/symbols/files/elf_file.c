#include "elf_file.h"

#include "elf_section.h"
#include "root.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PAGE_BYTES = 4096,
    SECTIONS_MAX = 65536,      /* a linked file has dozens */
    NOTES_BYTES_MAX = 1 << 24, /* of one section or segment */
    CHUNK_BYTES = 1 << 16,     /* read at once for a checksum */
};

struct elf_file {
    Elf *elf;
    int fd;      /* -1: an image in memory */
    void *image; /* ours, or NULL */
};

static void choose_version(void)
{
    elf_version(EV_CURRENT);
}

static void use_libelf(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, choose_version);
}

static void release(struct elf_file *file)
{
    if (file->elf)
        elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->image);
}

/* Another processor's file is as good: offsets mean the same here. */
static const char *what_is_wrong(Elf *elf, uint64_t bytes)
{
    GElf_Ehdr header;
    size_t sections;

    if (!bytes)
        return "the file is empty";
    if (!elf || elf_kind(elf) != ELF_K_ELF)
        return "not an ELF file";
    if (gelf_getclass(elf) != ELFCLASS64)
        return "a 32-bit file";
    if (!gelf_getehdr(elf, &header))
        return "the file is cut off";
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
        return "a file of the other byte order";
    if (header.e_shoff > bytes || bytes - header.e_shoff < sizeof(Elf64_Shdr))
        return header.e_shoff ? "the file is cut off" : NULL;
    if (elf_getshdrnum(elf, &sections) < 0 || sections > SECTIONS_MAX)
        return "the file is damaged";
    return NULL;
}

/* Takes over all; bytes: how long it is. */
static struct elf_file *file_new(Elf *elf, int fd, void *image, uint64_t bytes, const char **reason)
{
    struct elf_file *file = malloc(sizeof(*file)), all = { elf, fd, image };

    *reason = file ? what_is_wrong(elf, bytes) : "out of memory";
    if (file)
        *file = all;
    else
        release(&all);
    if (!*reason)
        return file;
    elf_file_close(file);
    return NULL;
}

struct elf_file *elf_file_open_fd(int fd, const char **reason)
{
    struct stat file = { 0 };

    use_libelf();
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
        file.st_size = 0;
    /* Read, not mapped: a file that is cut off meanwhile must not end us with SIGBUS. */
    return file_new(elf_begin(fd, ELF_C_READ, NULL), fd, NULL, (uint64_t)file.st_size, reason);
}

struct elf_file *elf_file_open(int root, const char *path, const char **reason)
{
    int fd = root_open(root, path, reason);

    return fd < 0 ? NULL : elf_file_open_fd(fd, reason);
}

struct elf_file *elf_file_open_image(void *image, size_t bytes, const char **reason)
{
    use_libelf();
    return file_new(elf_memory(image, bytes), -1, image, bytes, reason);
}

/* The kernel's own: trusted. It has no length anywhere, but its section headers come last. */
struct elf_file *elf_file_open_vdso(const char **reason)
{
    Elf64_Ehdr *image = (Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    size_t bytes;

    *reason = "this process has no vdso";
    if (!image)
        return NULL;
    use_libelf();
    bytes = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
    return file_new(elf_memory((char *)image, bytes), -1, NULL, bytes, reason);
}

void elf_file_close(struct elf_file *file)
{
    if (!file)
        return;
    release(file);
    free(file);
}

void elf_file_closep(struct elf_file **file)
{
    elf_file_close(*file);
}

uint16_t elf_file_machine(struct elf_file *file)
{
    GElf_Ehdr header;

    return gelf_getehdr(file->elf, &header) ? header.e_machine : EM_NONE;
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
    for (size_t i = 0; i < count && i < SECTIONS_MAX && !bytes; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_NOTE ||
            segment.p_filesz > NOTES_BYTES_MAX)
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
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
            header.sh_size > NOTES_BYTES_MAX)
            continue;
        bytes = build_id_in(elf_getdata(section, NULL), out);
        if (bytes)
            return bytes;
    }
    return build_id_in_segments(file, out);
}

bool elf_file_is_build(struct elf_file *file, const uint8_t *build_id, uint32_t bytes)
{
    uint8_t found[FEED_BUILD_ID_MAX];

    return elf_file_build_id(file, found) == bytes && !memcmp(found, build_id, bytes);
}

int elf_file_fd(const struct elf_file *file)
{
    return file->fd;
}

bool elf_file_path(const struct elf_file *file, char path[PATH_MAX])
{
    char link[32];
    ssize_t bytes;

    if (file->fd < 0)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
    bytes = readlink(link, path, PATH_MAX - 1);
    if (bytes <= 0)
        return false;
    path[bytes] = 0;
    return true;
}

bool elf_file_crc32(const struct elf_file *file, uint32_t *out)
{
    uint8_t bytes[CHUNK_BYTES];
    uLong sum = crc32(0, NULL, 0);
    off_t at = 0;
    ssize_t got;

    while ((got = pread(file->fd, bytes, sizeof(bytes), at)) > 0) {
        sum = crc32(sum, bytes, (uInt)got);
        at += got;
    }
    *out = (uint32_t)sum;
    return got == 0;
}

const uint8_t *elf_file_section(struct elf_file *file, const char *name, uint64_t *size,
                                uint64_t *address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(file->elf, &names) < 0)
        return NULL;
    const struct elf_texts texts = elf_texts_of(file->elf, names);
    while ((section = elf_nextscn(file->elf, section))) {
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) ||
            strcmp(elf_text_at(&texts, header.sh_name), name) != 0 ||
            !(data = elf_section_data(section, &header)))
            continue;
        *size = data->d_size;
        *address = header.sh_addr;
        return data->d_buf;
    }
    return NULL;
}

static Elf_Scn *section_named(struct elf_file *file, const char *name, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(file->elf, &names) < 0)
        return NULL;
    const struct elf_texts texts = elf_texts_of(file->elf, names);
    while ((section = elf_nextscn(file->elf, section)))
        if (gelf_getshdr(section, header) &&
            strcmp(elf_text_at(&texts, header->sh_name), name) == 0)
            return section;
    return NULL;
}

const uint8_t *elf_file_unpacked(struct elf_file *file, const char *name, uint64_t size_max,
                                 uint64_t *size)
{
    GElf_Shdr header;
    GElf_Chdr packed;
    Elf_Scn *section = section_named(file, name, &header);
    Elf_Data *data;

    if (!section || header.sh_size > size_max)
        return NULL;
    if (header.sh_flags & SHF_COMPRESSED &&
        (!gelf_getchdr(section, &packed) || packed.ch_size > size_max ||
         elf_compress(section, 0, 0) < 0 || !gelf_getshdr(section, &header)))
        return NULL;
    data = elf_section_data(section, &header);
    *size = data ? data->d_size : 0;
    return data ? data->d_buf : NULL;
}

void elf_file_code(struct elf_file *file, uint64_t *start, uint64_t *end)
{
    uint64_t first = UINT64_MAX, last = 0;
    size_t count = 0;
    GElf_Phdr segment;

    elf_getphdrnum(file->elf, &count);
    for (size_t i = 0; i < count && i < SECTIONS_MAX; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            !(segment.p_flags & PF_X))
            continue;
        if (segment.p_vaddr < first)
            first = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > last)
            last = segment.p_vaddr + segment.p_memsz;
    }
    *start = last ? first : 0;
    *end = last ? last : UINT64_MAX;
}

bool elf_file_segment(struct elf_file *file, struct elf_segment *out)
{
    struct elf_segment largest = { 0 };
    uint64_t base = UINT64_MAX;
    size_t count = 0;
    GElf_Phdr segment;

    elf_getphdrnum(file->elf, &count);
    for (size_t i = 0; i < count && i < SECTIONS_MAX; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        if (segment.p_vaddr < base)
            base = segment.p_vaddr;
        if ((segment.p_flags & PF_X) && segment.p_memsz > largest.size)
            largest = (struct elf_segment){ .address = segment.p_vaddr,
                                            .size = segment.p_memsz,
                                            .offset = segment.p_offset };
    }
    if (!largest.size)
        return false;
    *out = largest;
    out->base = base & ~(PAGE_BYTES - 1);
    return true;
}

size_t elf_file_read(struct elf_file *file, uint64_t address, uint8_t *out, size_t size)
{
    size_t count = 0;
    GElf_Phdr segment;

    elf_getphdrnum(file->elf, &count);
    for (size_t i = 0; i < count && i < SECTIONS_MAX; i++) {
        uint64_t before, left;
        Elf_Data *data;

        if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
            continue;
        before = address - segment.p_vaddr;
        left = segment.p_filesz - before;
        size = left < size ? left : size;
        data = segment.p_offset > INT64_MAX - before
                   ? NULL
                   : elf_getdata_rawchunk(file->elf, (int64_t)(segment.p_offset + before), size,
                                          ELF_T_BYTE);
        if (!data || !data->d_buf)
            return 0;
        memcpy(out, data->d_buf, size);
        return size;
    }
    return 0;
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

#include "elf_header.h"

#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { NATIVE_MACHINE = EM_X86_64, NATIVE_BITS = 64 };
static const char native_name[] = "64-bit x86-64";
#elif defined(__aarch64__)
enum { NATIVE_MACHINE = EM_AARCH64, NATIVE_BITS = 64 };
static const char native_name[] = "64-bit ARM";
#else
#error "isoscope knows x86-64 and aarch64"
#endif

enum {
    HEADERS_BYTES = 65536, /* the kernel reads no more */
    HEADERS_MAX = HEADERS_BYTES / sizeof(Elf64_Phdr),
};

static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    { EM_386, "i386" },     { EM_X86_64, "x86-64" }, { EM_ARM, "ARM" },    { EM_AARCH64, "ARM" },
    { EM_RISCV, "RISC-V" }, { EM_PPC64, "POWER" },   { EM_S390, "IBM Z" }, { EM_MIPS, "MIPS" },
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

const char *elf_machine_name(uint16_t machine)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].machine == machine)
            return machines[i].name;
    return "another machine";
}

const char *elf_native_name(void)
{
    return native_name;
}

bool elf_header_is_native(const struct elf_header *elf)
{
    return elf->bits == NATIVE_BITS && elf->machine == NATIVE_MACHINE && elf->little_endian;
}

static bool read_at(int fd, void *out, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* As the kernel wants it: a path that ends with its zero. */
static bool read_loader(char out[PATH_MAX], int fd, const Elf64_Phdr *interpreter)
{
    size_t bytes = interpreter->p_filesz;

    return bytes >= 2 && bytes <= PATH_MAX && read_at(fd, out, bytes, interpreter->p_offset) &&
           out[bytes - 1] == '\0';
}

/* Go's linker writes its own, alone in a segment. */
static bool is_go_note(int fd, const Elf64_Phdr *notes)
{
    struct {
        Elf64_Nhdr head;
        char name[4];
    } note;

    return notes->p_type == PT_NOTE && read_at(fd, &note, sizeof(note), notes->p_offset) &&
           note.head.n_namesz == sizeof(note.name) && !memcmp(note.name, "Go\0", 4);
}

static bool needs_libraries(int fd, const Elf64_Phdr *dynamic)
{
    Elf64_Dyn entry;

    for (uint64_t at = 0; at < dynamic->p_filesz && at < HEADERS_BYTES; at += sizeof(entry)) {
        if (!read_at(fd, &entry, sizeof(entry), dynamic->p_offset + at) || entry.d_tag == DT_NULL)
            return false;
        if (entry.d_tag == DT_NEEDED)
            return true;
    }
    return false;
}

/* Of a segment that is one of the program's. False: the kernel would not start it. */
static bool look_at(struct elf_header *out, int fd, const Elf64_Phdr *segment, bool *needs)
{
    if (segment->p_type == PT_INTERP && !out->dynamic_loader) {
        out->dynamic_loader = read_loader(out->loader, fd, segment);
        out->musl = out->dynamic_loader && strstr(out->loader, "/ld-musl-");
        return out->dynamic_loader;
    }
    if (segment->p_type == PT_DYNAMIC)
        *needs = needs_libraries(fd, segment);
    out->go_alone |= is_go_note(fd, segment);
    return true;
}

/* Only for files of our own byte order and class: the others are refused before. False: the kernel
 * would not start it either. */
static bool look_at_segments(struct elf_header *out, int fd, const Elf64_Ehdr *header)
{
    Elf64_Phdr segment;
    bool needs = false;

    if (header->e_phentsize != sizeof(segment) || !header->e_phnum ||
        header->e_phnum > HEADERS_MAX || header->e_phoff > INT64_MAX - HEADERS_BYTES)
        return false;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t offset = header->e_phoff + i * sizeof(segment);
        if (!read_at(fd, &segment, sizeof(segment), offset) || !look_at(out, fd, &segment, &needs))
            return false;
    }
    out->go_alone &= out->dynamic_loader && !needs;
    return true;
}

static bool is_readable(struct elf_header *out, int fd)
{
    Elf64_Ehdr header = { 0 };
    int class, order;

    /* A 32-bit header is shorter, and the two agree up to e_machine. */
    if (!read_at(fd, &header, sizeof(Elf32_Ehdr), 0))
        return false;
    class = header.e_ident[EI_CLASS];
    order = header.e_ident[EI_DATA];
    if ((class != ELFCLASS32 && class != ELFCLASS64) ||
        (order != ELFDATA2LSB && order != ELFDATA2MSB))
        return false;
    out->bits = class == ELFCLASS64 ? 64 : 32;
    out->little_endian = order == ELFDATA2LSB;
    out->machine = out->little_endian ? le16toh(header.e_machine) : be16toh(header.e_machine);
    if (!elf_header_is_native(out))
        return true;
    return read_at(fd, &header, sizeof(header), 0) && look_at_segments(out, fd, &header);
}

int elf_header_read(struct elf_header *out, const char *path)
{
    /* O_NONBLOCK: a fifo with a program's name must not hang us. */
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct elf_header elf = { 0 };
    char magic[SELFMAG];

    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    if (!read_at(fd, magic, sizeof(magic), 0) || memcmp(magic, ELFMAG, SELFMAG) != 0)
        return -ISOSCOPE_INVALID;
    if (!is_readable(&elf, fd))
        elf = (struct elf_header){ .broken = true };
    *out = elf;
    return 0;
}

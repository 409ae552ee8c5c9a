#include "elf_header.h"

#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

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

enum { HEADERS_MAX = 1024, LOADER_BYTES = 256 };

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

static bool is_musl(int fd, const Elf64_Phdr *interpreter)
{
    char path[LOADER_BYTES] = "";
    size_t bytes = interpreter->p_filesz < sizeof(path) ? interpreter->p_filesz : sizeof(path) - 1;

    return read_at(fd, path, bytes, interpreter->p_offset) && strstr(path, "/ld-musl-");
}

/* Only for files of our own byte order and class: the others are refused before. */
static void find_loader(struct elf_header *out, int fd, const Elf64_Ehdr *header)
{
    Elf64_Phdr segment;

    if (header->e_phentsize != sizeof(segment))
        return;
    for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
        uint64_t offset = header->e_phoff + i * sizeof(segment);
        if (!read_at(fd, &segment, sizeof(segment), offset))
            return;
        if (segment.p_type == PT_INTERP) {
            out->dynamic_loader = true;
            out->musl = is_musl(fd, &segment);
            return;
        }
    }
}

int elf_header_read(struct elf_header *out, const char *path)
{
    /* O_NONBLOCK: a fifo with a program's name must not hang us. */
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf64_Ehdr header = { 0 };

    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    /* A 32-bit header is shorter, and the two agree up to e_machine. */
    if (!read_at(fd, &header, sizeof(Elf32_Ehdr), 0) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return -ISOSCOPE_INVALID;

    struct elf_header elf = {
        .bits = header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
        .little_endian = header.e_ident[EI_DATA] == ELFDATA2LSB,
    };
    elf.machine = elf.little_endian ? le16toh(header.e_machine) : be16toh(header.e_machine);
    if (elf_header_is_native(&elf)) {
        if (!read_at(fd, &header, sizeof(header), 0))
            return -ISOSCOPE_INVALID;
        find_loader(&elf, fd, &header);
    }
    *out = elf;
    return 0;
}

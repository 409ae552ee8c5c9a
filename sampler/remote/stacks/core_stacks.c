/*
 * core_stacks.c - stacks of a core file: its notes have each thread's registers and the files that were mapped; what it has no
 * copy of is read from those, where they are still the same.
 *
 * Source     core(5); elf(5), "Notes"; the kernel's fs/binfmt_elf.c for NT_FILE: count, page size, count times start, end and
 *            offset in pages, then as many paths.
 */
#include "stack_modules.h"
#include "stack_walk.h"
#include "thread_waits.h"

#include "../../capture/system/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { NATIVE_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { NATIVE_MACHINE = EM_AARCH64 };
#endif

enum { HEAD_BYTES = 4096, FILES_MAX = 65536 };

/* fd: -1: it was not opened yet; -2: it cannot be, or is another file by now. */
struct core_file {
    struct stack_mapping mapping;
    int fd;
};

struct core {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Phdr *headers;
    uint32_t header_count;
    struct core_file *files; /* by address */
    size_t file_count;
    struct stack_registers *registers; /* of each thread */
    struct thread_stacks *stacks;
    struct stack_memory memory;
};

/* Of what the core itself has; 0: nothing. */
static size_t read_dumped(const struct core *core, uint64_t address, void *out, size_t bytes)
{
    for (uint32_t i = 0; i < core->header_count; i++) {
        const Elf64_Phdr *part = &core->headers[i];
        uint64_t in_part = address - part->p_vaddr;

        if (part->p_type != PT_LOAD || address < part->p_vaddr || in_part >= part->p_filesz ||
            part->p_offset >= core->size || in_part >= core->size - part->p_offset)
            continue;
        if (bytes > part->p_filesz - in_part)
            bytes = part->p_filesz - in_part;
        if (bytes > core->size - part->p_offset - in_part)
            bytes = core->size - part->p_offset - in_part;
        memcpy(out, core->bytes + part->p_offset + in_part, bytes);
        return bytes;
    }
    return 0;
}

/* Its first page, as the core has it. Where that was not dumped, the path has to do. */
static bool is_same_file(const struct core *core, const struct core_file *file, int fd)
{
    uint8_t dumped[HEAD_BYTES], now[HEAD_BYTES];
    size_t bytes;

    for (size_t i = 0; i < core->file_count; i++) {
        const struct stack_mapping *mapping = &core->files[i].mapping;

        if (mapping->offset || strcmp(mapping->path, file->mapping.path) != 0)
            continue;
        bytes = read_dumped(core, mapping->start, dumped, sizeof(dumped));
        return !bytes ||
               (pread(fd, now, bytes, 0) == (ssize_t)bytes && !memcmp(dumped, now, bytes));
    }
    return true;
}

/* A core file may name anything: a pipe would never open, a device may do something. */
static bool is_regular(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

static int open_file(const struct core *core, struct core_file *file)
{
    if (file->fd != -1)
        return file->fd;
    file->fd = open(file->mapping.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd >= 0 && (!is_regular(file->fd) || !is_same_file(core, file, file->fd))) {
        close(file->fd);
        file->fd = -1;
    }
    if (file->fd < 0)
        file->fd = -2;
    return file->fd;
}

static size_t read_file(const struct core *core, uint64_t address, void *out, size_t bytes)
{
    for (size_t i = 0; i < core->file_count; i++) {
        struct core_file *file = &core->files[i];
        ssize_t got;

        if (address < file->mapping.start || address >= file->mapping.end ||
            open_file(core, file) < 0)
            continue;
        if (bytes > file->mapping.end - address)
            bytes = file->mapping.end - address;
        got = pread(file->fd, out, bytes,
                    (off_t)(file->mapping.offset + (address - file->mapping.start)));
        return got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static size_t read_memory(const void *context, uint64_t address, void *out, size_t bytes)
{
    size_t got = read_dumped(context, address, out, bytes);

    return got ? got : read_file(context, address, out, bytes);
}

static char *file_of(const void *context, const struct stack_mapping *mapping)
{
    const struct core *core = context;

    for (size_t i = 0; i < core->file_count; i++)
        if (core->files[i].mapping.start == mapping->start)
            return open_file(core, &core->files[i]) >= 0 ? strdup(mapping->path) : NULL;
    return NULL;
}

static bool add_thread(struct core *core, const uint8_t *note, size_t bytes)
{
    struct thread_stacks *stacks = core->stacks;
    struct elf_prstatus status;
    struct user_regs_struct registers;
    struct stack_thread *threads;
    struct stack_registers *all;

    if (bytes < sizeof(status))
        return true;
    memcpy(&status, note, sizeof(status));
    memcpy(&registers, &status.pr_reg, sizeof(registers));
    threads = reallocarray(stacks->threads, stacks->thread_count + 1, sizeof(*threads));
    if (threads)
        stacks->threads = threads;
    all = reallocarray(core->registers, stacks->thread_count + 1, sizeof(*all));
    if (all)
        core->registers = all;
    if (!threads || !all)
        return false;
    all += stacks->thread_count;
    *all = (struct stack_registers){ .known = (UINT64_C(1) << STACK_REGISTERS) - 1 };
    stack_registers_take(&registers, all->value, &all->call, all->arguments);
    threads[stacks->thread_count++] =
        (struct stack_thread){ .tid = status.pr_pid, .own_tid = status.pr_pid };
    if (stacks->thread_count == 1)
        stacks->signal = status.pr_cursig;
    return true;
}

static bool add_file(struct core *core, const struct stack_mapping *mapping)
{
    struct core_file *grown = reallocarray(core->files, core->file_count + 1, sizeof(*grown));

    if (!grown)
        return false;
    core->files = grown;
    core->files[core->file_count++] = (struct core_file){ *mapping, -1 };
    return true;
}

static bool add_files(struct core *core, const uint8_t *note, size_t bytes)
{
    uint64_t head[2], place[3];
    const char *path, *end = (const char *)note + bytes;
    bool good = true;

    if (bytes < sizeof(head))
        return true;
    memcpy(head, note, sizeof(head));
    if (head[0] > FILES_MAX || head[0] * sizeof(place) > bytes - sizeof(head))
        return true;
    path = (const char *)note + sizeof(head) + head[0] * sizeof(place);
    for (uint64_t i = 0; good && i < head[0] && memchr(path, 0, (size_t)(end - path)); i++) {
        memcpy(place, note + sizeof(head) + i * sizeof(place), sizeof(place));
        good = add_file(
            core, &(struct stack_mapping){ place[0], place[1], place[2] * head[1], 0, 0, path });
        path += strlen(path) + 1;
    }
    return good;
}

/* The kernel's own, which is of no file. */
static bool add_vdso(struct core *core, const uint8_t *note, size_t bytes)
{
    for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= bytes; at += sizeof(Elf64_auxv_t)) {
        Elf64_auxv_t one;

        memcpy(&one, note + at, sizeof(one));
        for (uint32_t i = 0; one.a_type == AT_SYSINFO_EHDR && i < core->header_count; i++)
            if (core->headers[i].p_type == PT_LOAD && core->headers[i].p_vaddr == one.a_un.a_val)
                return add_file(core, &(struct stack_mapping){
                                          one.a_un.a_val, one.a_un.a_val + core->headers[i].p_memsz,
                                          0, 0, 0, "[vdso]" });
    }
    return true;
}

static void take_process(struct core *core, const uint8_t *note, size_t bytes)
{
    struct elf_prpsinfo about;

    if (bytes < sizeof(about))
        return;
    memcpy(&about, note, sizeof(about));
    core->stacks->pid = about.pr_pid;
    snprintf(core->stacks->exe, sizeof(core->stacks->exe), "%.*s", (int)sizeof(about.pr_fname),
             about.pr_fname);
}

static bool take_note(struct core *core, const Elf64_Nhdr *note, const uint8_t *text)
{
    switch (note->n_type) {
    case NT_PRSTATUS:
        return add_thread(core, text, note->n_descsz);
    case NT_PRPSINFO:
        take_process(core, text, note->n_descsz);
        return true;
    case NT_FILE:
        return add_files(core, text, note->n_descsz);
    case NT_AUXV:
        return add_vdso(core, text, note->n_descsz);
    default:
        return true;
    }
}

static bool read_notes(struct core *core, const Elf64_Phdr *part)
{
    uint64_t at = part->p_offset, end = part->p_offset + part->p_filesz;
    Elf64_Nhdr note;

    if (end < at || end > core->size)
        end = core->size;
    while (at < end && end - at >= sizeof(note)) {
        uint64_t text;

        memcpy(&note, core->bytes + at, sizeof(note));
        text = at + sizeof(note) + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        if (text > end || note.n_descsz > end - text)
            return true;
        if (!take_note(core, &note, core->bytes + text))
            return false;
        at = text + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
    }
    return true;
}

static int by_address(const void *one, const void *other)
{
    const struct core_file *a = one, *b = other;

    return (a->mapping.start > b->mapping.start) - (a->mapping.start < b->mapping.start);
}

static bool read_core(struct core *core)
{
    struct stack_modules modules = {
        .stacks = core->stacks, .memory = &core->memory, .file_of = file_of, .context = core
    };
    bool good = true;

    for (uint32_t i = 0; good && i < core->header_count; i++)
        if (core->headers[i].p_type == PT_NOTE)
            good = read_notes(core, &core->headers[i]);
    if (good && core->file_count)
        qsort(core->files, core->file_count, sizeof(*core->files), by_address);
    for (size_t i = 0; good && i < core->file_count; i++)
        good = stack_modules_add(&modules, &core->files[i].mapping);
    return good;
}

static bool walk_threads(struct core *core)
{
    struct stack_walker *walker = stack_walker_new(core->stacks, &core->memory);
    const struct waits_target waits = { core->stacks, &core->memory, 0 };
    bool good = walker;

    for (uint32_t i = 0; good && i < core->stacks->thread_count; i++) {
        const struct stack_registers *registers = &core->registers[i];
        struct stack_thread *thread = &core->stacks->threads[i];

        if (!i)
            snprintf(thread->name, sizeof(thread->name), "%.15s", core->stacks->exe);
        good = stack_walk(walker, registers, thread);
        thread_waits(
            &waits, thread,
            &(struct blocked){ .number = registers->call,
                               .arguments = { registers->arguments[0], registers->arguments[1],
                                              registers->arguments[2] } });
    }
    stack_walker_free(walker);
    return good;
}

static void free_core(struct core *core)
{
    for (size_t i = 0; i < core->file_count; i++)
        if (core->files[i].fd >= 0)
            close(core->files[i].fd);
    free(core->files);
    free(core->registers);
    stack_memory_free(&core->memory);
}

/* False: it is none, or not for this machine. */
static bool check_head(struct core *core, const char *path, struct refusal *why)
{
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)core->bytes;

    if (core->size < sizeof(*elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0)
        return refusal_say(why, "'%s' is no core file: it is not ELF", path);
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != NATIVE_MACHINE)
        return refusal_say(
            why, "'%s' is of another architecture, which this isoscope does not read", path);
    if (elf->e_type != ET_CORE)
        return refusal_say(why, "'%s' is no core file, but a program or a library", path);
    if (elf->e_phentsize != sizeof(Elf64_Phdr) || elf->e_phoff % 8 || elf->e_phoff > core->size ||
        elf->e_phnum * sizeof(Elf64_Phdr) > core->size - elf->e_phoff)
        return refusal_say(why, "'%s' is cut off: its program headers lie beyond its end", path);
    core->headers = (const Elf64_Phdr *)(core->bytes + elf->e_phoff);
    core->header_count = elf->e_phnum;
    return true;
}

static uint64_t missing_bytes(const struct core *core)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < core->header_count; i++)
        if (core->headers[i].p_offset + core->headers[i].p_filesz > end)
            end = core->headers[i].p_offset + core->headers[i].p_filesz;
    return end > core->size ? end - core->size : 0;
}

static bool read_all(struct core *core, const char *path, struct refusal *why)
{
    bool good;

    if (!check_head(core, path, why))
        return false;
    core->stacks->missing_bytes = missing_bytes(core);
    good =
        stack_memory_new(&core->memory, read_memory, core) && read_core(core) && walk_threads(core);
    if (!good)
        return refusal_say(why, "there is no memory");
    if (!core->stacks->thread_count)
        return refusal_say(
            why,
            "'%s' has no threads: it is cut off, or was written by something else than the kernel",
            path);
    return true;
}

/* NULL: it cannot be read, which is said. */
static const uint8_t *map_core(const char *path, size_t *size, struct refusal *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *bytes;

    if (fd < 0 || fstat(fd, &about) < 0) {
        refusal_say(why, "'%s' cannot be read: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    *size = (size_t)about.st_size;
    bytes = mmap(NULL, *size ? *size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) {
        refusal_say(why, "'%s' cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    return bytes;
}

bool thread_stacks_of_core(struct thread_stacks **out, const char *path, struct refusal *why)
{
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    struct core core = { 0 };
    bool good;

    core.bytes = map_core(path, &core.size, why);
    if (!core.bytes)
        return false;
    core.stacks = calloc(1, sizeof(*core.stacks));
    good = core.stacks ? read_all(&core, path, why) : refusal_say(why, "there is no memory");
    free_core(&core);
    munmap((void *)core.bytes, core.size ? core.size : 1);
    if (!good) {
        thread_stacks_free(core.stacks);
        return false;
    }
    core.stacks->took_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
    *out = core.stacks;
    return true;
}

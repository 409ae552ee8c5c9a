#include "cold_pieces.h"

#include "../../capture/cfi/cfi.h"
#include "../../feed/cleanup.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    CODE_BYTES_MAX = 1 << 22, /* of a function */
    CANDIDATES_MAX = 16,
#ifdef __aarch64__
    JUMP_STEP = 4,
    ENTRY_CFA = 0,
    MACHINE = EM_AARCH64,
#else
    JUMP_STEP = 1,
    ENTRY_CFA = 8,
    MACHINE = EM_X86_64,
#endif
};

struct unwind_data {
    struct cfi_header header;
    struct cfi_bytes frames;
};

/* False: there is none with a table. */
static bool read_unwind_data(struct elf_file *file, struct unwind_data *out)
{
    struct cfi_bytes head = { 0 };

    head.bytes = elf_file_section(file, ".eh_frame_hdr", &head.size, &head.vaddr);
    out->frames.bytes = elf_file_section(file, ".eh_frame", &out->frames.size, &out->frames.vaddr);
    return head.bytes && out->frames.bytes && cfi_header_read(&out->header, &head) &&
           out->header.fde_count;
}

/* The entry of .eh_frame that covers the address. */
static bool find_entry(const struct unwind_data *unwind, uint64_t vaddr, struct cfi_program *out)
{
    uint64_t at;

    return cfi_header_find(&unwind->header, vaddr, &at) &&
           cfi_program_at(out, &unwind->frames, at - unwind->frames.vaddr) && vaddr >= out->start &&
           vaddr < out->end;
}

/* It does not begin as a function does, which has a return address and nothing else on the stack. */
static bool begins_inside(struct cfi_program *program)
{
    struct cfi_rule rule;
    uint64_t from;

    return !program->signal_frame && cfi_next_row(program, &from, &rule) &&
           (rule.cfa != CFI_CFA_REG || rule.cfa_reg != ARCH_SP || rule.cfa_offset != ENTRY_CFA);
}

#ifdef __aarch64__
static int64_t signed_bits(uint32_t word, unsigned low, unsigned count)
{
    return (int64_t)((uint64_t)word << (64 - low - count)) >> (64 - count);
}

/* bl. */
static bool call_at(const uint8_t *code, uint64_t left, uint64_t vaddr, uint64_t *target)
{
    uint32_t word;

    if (left < sizeof(word))
        return false;
    memcpy(&word, code, sizeof(word));
    *target = vaddr + 4 * (uint64_t)signed_bits(word, 0, 26);
    return (word & 0xfc000000) == 0x94000000;
}

/* b, b.cond, cbz and cbnz, tbz and tbnz. */
static bool jump_at(const uint8_t *code, uint64_t left, uint64_t vaddr, uint64_t *target)
{
    uint32_t word;
    int64_t words;

    if (left < sizeof(word))
        return false;
    memcpy(&word, code, sizeof(word));
    if ((word & 0xfc000000) == 0x14000000)
        words = signed_bits(word, 0, 26);
    else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
        words = signed_bits(word, 5, 19);
    else if ((word & 0x7e000000) == 0x36000000)
        words = signed_bits(word, 5, 14);
    else
        return false;
    *target = vaddr + 4 * (uint64_t)words;
    return true;
}
#else
static bool relative_at(const uint8_t *code, uint64_t left, uint64_t vaddr, uint64_t opcode_bytes,
                        uint64_t *target)
{
    int32_t relative;

    if (!opcode_bytes || left < opcode_bytes + sizeof(relative))
        return false;
    memcpy(&relative, code + opcode_bytes, sizeof(relative));
    *target = vaddr + opcode_bytes + sizeof(relative) + (uint64_t)(int64_t)relative;
    return true;
}

static bool call_at(const uint8_t *code, uint64_t left, uint64_t vaddr, uint64_t *target)
{
    return relative_at(code, left, vaddr, code[0] == 0xe8 ? 1 : 0, target);
}

/* jmp and jcc with 32 bits: another section is never nearer. */
static bool jump_at(const uint8_t *code, uint64_t left, uint64_t vaddr, uint64_t *target)
{
    uint64_t opcode_bytes = code[0] == 0xe9 ? 1
                            : left > 1 && code[0] == 0x0f && code[1] >> 4 == 0x8 ? 2
                                                                                 : 0;
    return relative_at(code, left, vaddr, opcode_bytes, target);
}
#endif

typedef bool (*branch_at)(const uint8_t *code, uint64_t left, uint64_t vaddr, uint64_t *target);

static void free_bytes(uint8_t **bytes)
{
    free(*bytes);
}

/* Calls each with the targets of what looks like such branches in the piece; ends early when it says
 * false. */
static void follow(struct elf_file *file, const struct runtime_piece *piece, branch_at branch,
                   bool (*each)(void *context, uint64_t target), void *context)
{
    uint64_t bytes = piece->end - piece->start, target;
    CLEANUP(free_bytes) uint8_t *code = bytes <= CODE_BYTES_MAX ? malloc(bytes + 1) : NULL;

    if (!code || elf_file_read(file, piece->start, code, bytes) != bytes)
        return;
    for (uint64_t at = 0; at < bytes; at += JUMP_STEP)
        if (branch(code + at, bytes - at, piece->start + at, &target) && !each(context, target))
            return;
}

struct back {
    const struct runtime_piece *whole;
    bool found;
};

static bool leads_back(void *context, uint64_t target)
{
    struct back *back = context;

    back->found = target >= back->whole->start && target < back->whole->end;
    return !back->found;
}

static bool jumps_back(struct elf_file *file, const struct runtime_piece *piece,
                       const struct runtime_piece *whole)
{
    struct back back = { whole, false };

    follow(file, piece, jump_at, leads_back, &back);
    return back.found;
}

struct search {
    const struct unwind_data *unwind;
    const struct runtime_piece *whole;
    uint64_t below;
    struct runtime_piece found[CANDIDATES_MAX];
    uint32_t count;
};

static bool take_target(void *context, uint64_t target)
{
    struct search *search = context;
    struct cfi_program program;

    if (target >= search->whole->start && target < search->whole->end)
        return true;
    for (uint32_t i = 0; i < search->count; i++)
        if (target >= search->found[i].start && target < search->found[i].end)
            return true;
    if (!find_entry(search->unwind, target, &program))
        return true;
    const struct runtime_piece piece = { program.start, program.end };
    if (begins_inside(&program))
        search->found[search->count++] = piece;
    return search->count < CANDIDATES_MAX;
}

uint32_t cold_pieces_find(struct elf_file *file, struct runtime_piece *whole,
                          struct runtime_piece *out, uint32_t room)
{
    struct unwind_data unwind = { 0 };
    struct search search = { .unwind = &unwind, .whole = whole };
    struct cfi_program program;
    uint32_t count = 0;

    if (elf_file_machine(file) != MACHINE || !read_unwind_data(file, &unwind))
        return 0;
    if (whole->end == whole->start && find_entry(&unwind, whole->start, &program))
        whole->end = program.end;
    follow(file, whole, jump_at, take_target, &search);
    for (uint32_t i = 0; i < search.count && count < room; i++)
        if (jumps_back(file, &search.found[i], whole))
            out[count++] = search.found[i];
    return count;
}

static bool take_larger(void *context, uint64_t target)
{
    struct search *search = context;
    struct cfi_program program;

    if (find_entry(search->unwind, target, &program) && program.start == target &&
        target != search->whole->start && program.end - program.start < search->below &&
        program.end - program.start > search->found[0].end - search->found[0].start)
        search->found[0] = (struct runtime_piece){ program.start, program.end };
    return true;
}

bool cold_pieces_callee(struct elf_file *file, const struct runtime_piece *whole, uint64_t below,
                        struct runtime_piece *out)
{
    struct unwind_data unwind = { 0 };
    struct search search = { .unwind = &unwind, .whole = whole, .below = below };

    if (elf_file_machine(file) != MACHINE || !read_unwind_data(file, &unwind))
        return false;
    follow(file, whole, call_at, take_larger, &search);
    *out = search.found[0];
    return out->end > out->start;
}

bool code_gap_find(struct elf_file *file, struct runtime_piece *out)
{
    struct unwind_data unwind = { 0 };
    struct cfi_program program;
    uint64_t end = 0;

    *out = (struct runtime_piece){ 0 };
    if (elf_file_machine(file) != MACHINE || !read_unwind_data(file, &unwind))
        return false;
    for (uint64_t i = 0; i < unwind.header.fde_count; i++) {
        uint64_t at = cfi_header_fde_vaddr(&unwind.header, i);

        if (!cfi_program_at(&program, &unwind.frames, at - unwind.frames.vaddr))
            continue;
        if (end && program.start > end && program.start - end > out->end - out->start)
            *out = (struct runtime_piece){ end, program.start };
        if (program.end > end)
            end = program.end;
    }
    return out->end > out->start;
}

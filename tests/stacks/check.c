/*
 * check FILE... - walks recorded stacks (stack_file.h) with the sampler's own unwinder.
 *
 * Compiled for aarch64 and run by an emulator it checks that processor's unwinder too.
 */
#include "stack_file.h"

#include "sampler/capture/unwind/unwind.h"
#include "sampler/profile/unwinding/table_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct recorded {
    struct stack_file head;
    struct stack_file unwind; /* the head that came with the unwind data */
    const uint8_t *header, *eh_frame, *stack, *expected;
};

/* The next stack in [*at, end); one without unwind data keeps what out has. */
static int next_stack(struct recorded *out, const uint8_t **at, const uint8_t *end)
{
    if ((size_t)(end - *at) < sizeof out->head)
        return -1;
    memcpy(&out->head, *at, sizeof out->head);
    *at += sizeof out->head;
    if (out->head.magic != STACK_FILE_MAGIC)
        return -1;
    if (out->head.header_bytes) {
        out->unwind = out->head;
        out->header = *at;
        out->eh_frame = out->header + out->head.header_bytes;
        *at = out->eh_frame + out->head.eh_frame_bytes;
    }
    out->stack = *at;
    out->expected = out->stack + out->head.stack_bytes;
    *at = out->expected + out->head.frame_count * sizeof(uint64_t);
    return out->header && *at <= end ? 0 : -1;
}

/* The recorded addresses are in use here, so the stack lies elsewhere: pointers into it are moved.
 */
static uint64_t moved(const struct recorded *recorded, uint64_t word, uint64_t to)
{
    uint64_t from = recorded->head.stack_address;

    return word >= from && word <= from + recorded->head.stack_bytes ? word - from + to : word;
}

static uint64_t place_stack(const struct recorded *recorded)
{
    uint64_t *copy = aligned_alloc(64, (recorded->head.stack_bytes + 63) & ~63ull);
    /* Realigned frames want the same alignment. */
    uint64_t to = (uint64_t)copy;

    memcpy(copy, recorded->stack, recorded->head.stack_bytes);
    for (uint64_t i = 0; i < recorded->head.stack_bytes / 8; i++)
        copy[i] = moved(recorded, copy[i], to);
    return to;
}

static void set_registers(ucontext_t *context, const struct recorded *recorded, uint64_t stack)
{
    uint64_t value[STACK_FILE_REGISTERS];

    for (int i = 0; i < STACK_FILE_REGISTERS; i++)
        value[i] = moved(recorded, recorded->head.registers[i], stack);
#if defined(__x86_64__)
    static const int by_dwarf[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15 };

    for (int i = 0; i < 16; i++)
        context->uc_mcontext.gregs[by_dwarf[i]] = (greg_t)value[i];
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)recorded->head.pc;
#else
    for (int i = 0; i < 31; i++)
        context->uc_mcontext.regs[i] = value[i];
    context->uc_mcontext.sp = value[31];
    context->uc_mcontext.pc = recorded->head.pc;
#endif
}

static struct code_map *map_of(const struct recorded *recorded)
{
    const struct stack_file *head = &recorded->unwind;
    struct cfi_bytes header_bytes = { recorded->header, head->header_bytes, head->header_address };
    struct cfi_bytes eh_frame = { recorded->eh_frame, head->eh_frame_bytes,
                                  head->eh_frame_address };
    static _Atomic uint32_t unloads;
    struct code_map *map = code_map_new(1);
    struct cfi_header header;

    if (!map || !cfi_header_read(&header, &header_bytes))
        return NULL;
    map->unloads_now = &unloads;
    map->count = 1;
    map->ranges[0] = (struct code_range){ .start = head->code_start,
                                          .end = head->code_end,
                                          .number = 1,
                                          .permanent = true,
                                          .table = table_build(&header, &eh_frame, NULL) };
    return map->ranges[0].table ? map : NULL;
}

/* backtrace gives return addresses; the sampler gives the byte before, in the call. */
static int compare(const struct recorded *recorded, const uint64_t *frames, uint32_t depth,
                   enum feed_end end)
{
    int wrong = end != FEED_END_ROOT || depth != recorded->head.frame_count;

    for (uint32_t i = 0; i < depth && i < recorded->head.frame_count; i++) {
        uint64_t expected;

        memcpy(&expected, recorded->expected + i * sizeof expected, sizeof expected);
        if (i && !(expected & STACK_FILE_EXACT))
            expected--;
        wrong += FEED_FRAME_OFFSET(frames[i]) != (expected & ~STACK_FILE_EXACT);
    }
    return wrong;
}

static int check(const struct recorded *recorded, const char *path, int number)
{
    struct outer_frames outer_frames = { 0 };
    static ucontext_t context;
    static uint64_t frames[STACK_FILE_FRAMES_MAX];
    struct unwind_request request = { .outer_frames = &outer_frames,
                                      .context = &context,
                                      .frames_max = STACK_FILE_FRAMES_MAX,
                                      .map = map_of(recorded) };
    struct stack_range range = { 0 };
    struct unwind_result result;
    int wrong;

    if (!request.map)
        return 1;
    range.low = place_stack(recorded);
    range.high = range.low + recorded->head.stack_bytes;
    request.stack = &range;
    set_registers(&context, recorded, range.low);
    unwind(&request, frames, &result);
    wrong = compare(recorded, frames, result.depth, result.end);
    free((void *)range.low);
    free((void *)request.map->ranges[0].table);
    code_map_free((struct code_map *)request.map);
    printf("%s %d: %u frames, %s\n", path, number, result.depth, wrong ? "WRONG" : "as expected");
    return wrong != 0;
}

static int check_file(const char *path)
{
    static uint8_t bytes[2 << 20];
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    const uint8_t *at = bytes, *end = bytes + size;
    struct recorded recorded = { 0 };
    int wrong = 0, number = 0;

    if (in)
        fclose(in);
    while (at < end && next_stack(&recorded, &at, end) == 0)
        wrong += check(&recorded, path, ++number);
    if (!number || at != end)
        printf("%s: no recorded stacks, or not to its end\n", path);
    return wrong + (!number || at != end);
}

int main(int count, char **words)
{
    int wrong = 0;

    for (int i = 1; i < count; i++)
        wrong += check_file(words[i]);
    return count < 2 || wrong;
}

#include "decoder.h"

#ifdef ISOSCOPE_CAPSTONE

#include <capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Loaded when code is asked for: its tables want a millisecond of relocation, which each start of
 * isoscope would pay. */
#define TEXT(number)    #number
#define TEXT_OF(number) TEXT(number)
#define LIBRARY         "libcapstone.so." TEXT_OF(CS_API_MAJOR)
#define CAPSTONE_CALLS(CALL)                                                                       \
    CALL(cs_open)                                                                                  \
    CALL(cs_close)                                                                                 \
    CALL(cs_option)                                                                                \
    CALL(cs_malloc)                                                                                \
    CALL(cs_free)                                                                                  \
    CALL(cs_disasm_iter)                                                                           \
    CALL(cs_insn_group)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    CAPSTONE_CALLS(MEMBER)
#undef MEMBER
} capstone; /* set once, by load */
static bool loaded;

struct decoder {
    bool is_x86;
    csh handle;
    cs_insn *instruction; /* the last one */
};

/* It stays. */
static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    loaded = library != NULL;
#define TAKE(name) loaded = loaded && (*(void **)&capstone.name = dlsym(library, #name)) != NULL;
    CAPSTONE_CALLS(TAKE)
#undef TAKE
}

static bool open_handle(struct decoder *decoder)
{
    cs_arch arch = decoder->is_x86 ? CS_ARCH_X86 : CS_ARCH_ARM64;
    cs_mode mode = decoder->is_x86 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN;

    if (capstone.cs_open(arch, mode, &decoder->handle) != CS_ERR_OK)
        return false;
    capstone.cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
    capstone.cs_option(decoder->handle, CS_OPT_SKIPDATA, CS_OPT_ON);
    decoder->instruction = capstone.cs_malloc(decoder->handle);
    return decoder->instruction != NULL;
}

struct decoder *decoder_new(uint16_t machine, const char **reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct decoder *decoder;

    *reason = "its code is of a processor that isoscope does not disassemble";
    if (machine != EM_X86_64 && machine != EM_AARCH64)
        return NULL;
    *reason = LIBRARY " is missing: install libcapstone" TEXT_OF(CS_API_MAJOR);
    pthread_once(&once, load);
    if (!loaded)
        return NULL;
    *reason = "out of memory";
    decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return NULL;
    decoder->is_x86 = machine == EM_X86_64;
    if (open_handle(decoder))
        return decoder;
    decoder_free(decoder);
    return NULL;
}

void decoder_free(struct decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->instruction)
        capstone.cs_free(decoder->instruction, 1);
    if (decoder->handle)
        capstone.cs_close(&decoder->handle);
    free(decoder);
}

static bool transfers_control(const struct decoder *decoder)
{
    return capstone.cs_insn_group(decoder->handle, decoder->instruction, CS_GRP_JUMP) ||
           capstone.cs_insn_group(decoder->handle, decoder->instruction, CS_GRP_CALL) ||
           capstone.cs_insn_group(decoder->handle, decoder->instruction, CS_GRP_BRANCH_RELATIVE);
}

/* The address is the last operand: "tbz x0, #3, 0x1234". */
static uint64_t target_of_aarch64(const cs_arm64 *detail)
{
    const cs_arm64_op *last = detail->op_count ? &detail->operands[detail->op_count - 1] : NULL;

    return last && last->type == ARM64_OP_IMM ? (uint64_t)last->imm : INSTRUCTION_NO_TARGET;
}

static uint64_t target_of_x86(const cs_x86 *detail)
{
    return detail->op_count == 1 && detail->operands[0].type == X86_OP_IMM
               ? (uint64_t)detail->operands[0].imm
               : INSTRUCTION_NO_TARGET;
}

static bool is_aarch64_call(const cs_insn *instruction)
{
    return instruction->id == ARM64_INS_BL; /* capstone 4 has it in no group */
}

static uint64_t target_of(const struct decoder *decoder)
{
    const cs_insn *instruction = decoder->instruction;

    if (!instruction->id || !instruction->detail) /* no instruction */
        return INSTRUCTION_NO_TARGET;
    if (!transfers_control(decoder) && (decoder->is_x86 || !is_aarch64_call(instruction)))
        return INSTRUCTION_NO_TARGET;
    return decoder->is_x86 ? target_of_x86(&instruction->detail->x86)
                           : target_of_aarch64(&instruction->detail->arm64);
}

bool decoder_next(struct decoder *decoder, struct code_cursor *cursor, struct instruction *out)
{
    const cs_insn *from = decoder->instruction;
    const uint64_t offset = cursor->offset;

    if (!capstone.cs_disasm_iter(decoder->handle, &cursor->bytes, &cursor->count, &cursor->offset,
                                 decoder->instruction))
        return false;
    *out = (struct instruction){ .offset = offset, .size = (uint8_t)from->size };
    memcpy(out->bytes, from->bytes,
           from->size < INSTRUCTION_BYTES_MAX ? from->size : INSTRUCTION_BYTES_MAX);
    memccpy(out->mnemonic, from->mnemonic, 0, sizeof(out->mnemonic) - 1);
    memccpy(out->operands, from->op_str, 0, sizeof(out->operands) - 1);
    out->target = target_of(decoder);
    return true;
}

#else

struct decoder *decoder_new(uint16_t machine, const char **reason)
{
    (void)machine;
    *reason = "this isoscope was built without capstone (libcapstone-dev)";
    return NULL;
}

void decoder_free(struct decoder *decoder)
{
    (void)decoder;
}

bool decoder_next(struct decoder *decoder, struct code_cursor *cursor, struct instruction *out)
{
    (void)decoder;
    (void)cursor;
    (void)out;
    return false;
}

#endif

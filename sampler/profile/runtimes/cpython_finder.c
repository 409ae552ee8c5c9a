#include "finder.h"

#include "cpython_layouts.h"
#include "runtime_file.h"

#include <string.h>

enum {
    CODE_LOOKED_AT = 256,    /* of the eval function's beginning */
    PROLOGUE_MAX = 64,       /* by then it has its stack */
    SAVED_REGISTERS = 64,    /* bytes of stack besides */
    EVAL_BYTES_USUAL = 1024, /* where its code does not tell: more than a build was seen to take */
    VERSION_39 = 0x03090000, /* of which no patch is told */
    VERSION_310 = 0x030a0000,
};

/* PY_VERSION_HEX; 0: older than 3.9. */
static uint32_t version_of(struct runtime_file *file)
{
    uint64_t vaddr, version = 0;

    if (runtime_file_symbol(file, "Py_Version", &vaddr, NULL))
        return runtime_file_bytes(file, vaddr, &version, sizeof version) ? (uint32_t)version : 0;
    if (runtime_file_symbol(file, "PyModule_AddObjectRef", &vaddr, NULL))
        return VERSION_310;
    return runtime_file_symbol(file, "PyFrame_GetBack", &vaddr, NULL) ? VERSION_39 : 0;
}

/* What the eval function's own code tells. */
struct eval_code {
    uint64_t stack_bytes; /* that it takes; 0: not found */
    uint64_t begins;      /* bytes of code until it has them */
};

#ifdef __aarch64__
/* stp x29, x30, [sp, #-n]! and sub sp, sp, #n */
static struct eval_code read_prologue(const uint8_t *code)
{
    struct eval_code eval = { 0 };
    uint32_t instruction;

    for (uint32_t i = 0; i < PROLOGUE_MAX; i += sizeof instruction) {
        uint32_t taken = 0;

        memcpy(&instruction, &code[i], sizeof instruction);
        if ((instruction & 0xffc07fff) == 0xa9807bfd)
            taken = (128 - (instruction >> 15 & 127)) * 8;
        else if ((instruction & 0xffc003ff) == 0xd10003ff)
            taken = instruction >> 10 & 0xfff;
        if (!taken)
            continue;
        eval.stack_bytes += taken;
        eval.begins = i + sizeof instruction;
    }
    return eval;
}
#else
/* sub $n, %rsp */
static struct eval_code read_prologue(const uint8_t *code)
{
    uint32_t bytes;

    for (uint32_t i = 0; i < PROLOGUE_MAX; i++) {
        if (code[i] != 0x48 || (code[i + 1] != 0x81 && code[i + 1] != 0x83) || code[i + 2] != 0xec)
            continue;
        if (code[i + 1] == 0x83)
            return (struct eval_code){ code[i + 3] + SAVED_REGISTERS, i + 4 };
        memcpy(&bytes, &code[i + 3], sizeof bytes);
        return (struct eval_code){ (uint64_t)bytes + SAVED_REGISTERS, i + 7 };
    }
    return (struct eval_code){ 0 };
}
#endif

/* Up to 3.10 the frame belongs to the thread from the first store into tstate->frame on: a mov of a
 * register to 0x18 behind another. */
static uint64_t after_store(const uint8_t *code, uint64_t from, uint64_t offset)
{
#ifdef __x86_64__
    for (uint64_t i = from; i + 4 <= CODE_LOOKED_AT; i++)
        if ((code[i] & 0xf8) == 0x48 && code[i + 1] == 0x89 && (code[i + 2] & 0xc0) == 0x40 &&
            (code[i + 2] & 7) != 4 && code[i + 3] == offset)
            return i + 4;
#else
    (void)code;
    (void)offset;
#endif
    return from;
}

static void read_eval(struct runtime_file *file, uint64_t vaddr, uint64_t words[CPYTHON_WORDS])
{
    uint8_t code[CODE_LOOKED_AT] = { 0 };
    struct eval_code eval = { 0 };

    if (runtime_file_bytes(file, vaddr, code, sizeof code))
        eval = read_prologue(code);
    words[CPYTHON_EVAL_BYTES] = eval.stack_bytes ? eval.stack_bytes : (uint64_t)EVAL_BYTES_USUAL;
    words[CPYTHON_EVAL_BEGINS] = eval.begins;
    if (eval.begins && words[CPYTHON_CHAIN] <= CPYTHON_CHAIN_CFRAMES)
        words[CPYTHON_EVAL_BEGINS] = after_store(code, eval.begins, words[CPYTHON_THREAD_FRAME]);
}

/* The one that it begins with comes first. */
static bool put_ranges(struct feed_runtime *out, struct runtime_file *file, uint64_t vaddr,
                       uint64_t bias)
{
    struct runtime_piece pieces[FEED_RUNTIME_RANGES_MAX];
    uint32_t count = runtime_file_pieces(file, "_PyEval_EvalFrameDefault", pieces,
                                         FEED_RUNTIME_RANGES_MAX),
             begins = 0;

    for (uint32_t i = 0; i < count; i++)
        if (pieces[i].start == vaddr)
            begins = i;
    for (uint32_t i = 0; i < count; i++) {
        struct runtime_piece piece = pieces[(begins + i) % count];

        out->ranges[i].start = piece.start + bias;
        out->ranges[i].end = piece.end + bias;
        out->ranges[i].what = piece.start == vaddr ? CPYTHON_EVAL : CPYTHON_EVAL_PIECE;
    }
    out->range_count = count;
    return count && out->ranges[0].what == CPYTHON_EVAL;
}

enum runtime_found cpython_find(const struct runtime_module *module, struct feed_runtime *out,
                                const char **reason)
{
    struct runtime_file *file = module->file;
    uint64_t runtime, eval, type, debug[CPYTHON_DEBUG_OFFSETS];

    if (!runtime_file_symbol(file, "_PyRuntime", &runtime, NULL) ||
        !runtime_file_symbol(file, "_PyEval_EvalFrameDefault", &eval, NULL))
        return RUNTIME_NOT_HERE;
    out->kind = FEED_RUNTIME_CPYTHON;
    out->version = version_of(file);
    *reason = "its PyCode_Type is not exported";
    if (!runtime_file_symbol(file, "PyCode_Type", &type, NULL))
        return RUNTIME_UNKNOWN;
    *reason = cpython_layout(out->version,
                             runtime_file_bytes(file, runtime, debug, sizeof debug) ? debug : NULL,
                             out->words);
    if (*reason)
        return RUNTIME_UNKNOWN;
    out->words[CPYTHON_RUNTIME] = runtime + module->bias;
    out->words[CPYTHON_CODE_TYPE] = type + module->bias;
    read_eval(file, eval, out->words);
    *reason = "its eval function's code is not found";
    return put_ranges(out, file, eval, module->bias) ? RUNTIME_FOUND : RUNTIME_UNKNOWN;
}

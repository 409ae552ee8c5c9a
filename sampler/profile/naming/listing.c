#include "listing.h"

#include "../../feed/cleanup.h"
#include "../base/grow.h"
#include "../symbols/instructions.h"
#include "resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 256 };

_Static_assert((int)CODE_BYTES_MAX == (int)INSTRUCTION_BYTES_MAX, "bytes are copied");
_Static_assert(CODE_NO_TARGET == INSTRUCTION_NO_TARGET, "targets are copied");

struct code_request *code_request_new(struct module *module, uint64_t start, uint64_t from)
{
    struct code_request *request = calloc(1, sizeof(*request));

    if (!request)
        return NULL;
    atomic_init(&request->references, 1);
    request->module = module;
    request->start = start;
    request->from = from;
    return request;
}

struct code_request *code_request_hold(struct code_request *request)
{
    atomic_fetch_add_explicit(&request->references, 1, memory_order_relaxed);
    return request;
}

static void free_instructions(struct code_request *request)
{
    for (uint32_t i = 0; i < request->listing.count; i++) {
        free((char *)request->instructions[i].mnemonic);
        free((char *)request->instructions[i].called);
    }
    free(request->instructions);
    request->instructions = NULL;
    request->listing = (struct code_listing){ 0 };
    request->capacity = 0;
}

void code_request_release(struct code_request *request)
{
    if (!request || atomic_fetch_sub_explicit(&request->references, 1, memory_order_acq_rel) != 1)
        return;
    free_instructions(request);
    free(request);
}

void code_request_refuse(struct code_request *request, const char *reason)
{
    free_instructions(request);
    request->listing.reason = reason;
    atomic_store_explicit(&request->done, true, memory_order_release);
}

/* What an instruction is listed with. */
struct listing_source {
    struct functions *functions;
    const struct module *module;
    struct lines *lines;
    uint32_t function; /* whose code it is; 0: nothing names it */
};

/* Both in one piece of memory, mnemonic first. */
static bool copy_texts(const struct instruction *from, struct code_instruction *to)
{
    size_t mnemonic = strlen(from->mnemonic) + 1, operands = strlen(from->operands) + 1;
    char *texts = malloc(mnemonic + operands);

    if (!texts)
        return false;
    to->mnemonic = memcpy(texts, from->mnemonic, mnemonic);
    to->operands = memcpy(texts + mnemonic, from->operands, operands);
    return true;
}

static void find_line(const struct listing_source *source, struct code_instruction *instruction)
{
    struct chain_frame chain[INLINE_CHAIN_MAX];
    struct function function;

    resolve_chain(source->functions, source->module, source->lines, instruction->offset, chain);
    instruction->line = chain[0].line;
    instruction->file = chain[0].file;
    if (!chain[0].function)
        return;
    functions_get(source->functions, chain[0].function, &function);
    if (chain[0].inlined)
        instruction->function = function.name;
    if (chain[0].line && !chain[0].file)
        instruction->file = function.file;
}

/* The function itself is left out: a jump within it is known by its target. */
static void find_called(const struct listing_source *source, struct code_instruction *instruction)
{
    uint32_t number = instruction->target == CODE_NO_TARGET
                          ? 0
                          : resolve_symbol(source->functions, source->module, instruction->target);
    struct function function;
    char *name;
    int bytes;

    if (!number || number == source->function)
        return;
    functions_get(source->functions, number, &function);
    bytes =
        function.start == instruction->target || function.start == FUNCTION_NO_START
            ? asprintf(&name, "%s", function.name)
            : asprintf(&name, "%s+0x%" PRIx64, function.name, instruction->target - function.start);
    if (bytes >= 0)
        instruction->called = name;
}

static bool add_instruction(struct code_request *request, const struct listing_source *source,
                            const struct instruction *from)
{
    struct code_instruction *to;

    if (!GROW(request->instructions, request->listing.count, request->capacity))
        return false;
    to = &request->instructions[request->listing.count];
    *to = (struct code_instruction){ .offset = from->offset,
                                     .size = from->size,
                                     .target = from->target };
    memcpy(to->bytes, from->bytes, sizeof(to->bytes));
    if (!copy_texts(from, to))
        return false;
    request->listing.count++;
    find_line(source, to);
    find_called(source, to);
    return true;
}

struct reading {
    struct code_request *request;
    struct listing_source source;
    struct instructions *instructions;
    uint64_t left; /* bytes that may be listed */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* NULL, or why not. The last instruction may reach over what is left. */
static const char *list_part(struct reading *reading, struct code_part part)
{
    struct code_request *request = reading->request;
    uint64_t until = part.start + smaller(part.end - part.start, reading->left);
    struct instruction one = { .offset = part.start };

    if (!instructions_seek(reading->instructions, part))
        return "the file does not have its code";
    while (one.offset + one.size < until && instructions_next(reading->instructions, &one))
        if (!add_instruction(request, &reading->source, &one))
            return "out of memory";
    reading->left -= until - part.start;
    if (!reading->left && one.offset + one.size < part.end)
        request->listing.next = one.offset + one.size;
    return NULL;
}

static bool is_within(uint64_t offset, struct code_part part)
{
    return offset >= part.start && offset < part.end;
}

static const char *list_parts(struct reading *reading)
{
    struct code_request *request = reading->request;
    const struct symbols *symbols = request->module->symbols;
    struct code_part parts[PARTS_MAX];
    uint32_t i = 0, count = symbols ? symbols_parts(symbols, request->start, parts, PARTS_MAX) : 0;
    const char *reason = NULL;

    if (!count)
        return "neither a symbol nor unwind data says where it begins and ends";
    while (request->from && i < count && !is_within(request->from, parts[i]))
        i++;
    if (i == count)
        return "it has no code from that offset on";
    if (request->from)
        parts[i].start = request->from;
    for (; !reason && !request->listing.next && i < count; i++) {
        if (reading->left)
            reason = list_part(reading, parts[i]);
        else
            request->listing.next = parts[i].start;
    }
    return reason;
}

static const char *read_listing(struct code_request *request, const struct listing_source *source,
                                const struct module_file *file)
{
    const char *reason;
    CLEANUP(instructions_closep)
    struct instructions *instructions = instructions_open(file, &reason);
    struct reading reading = { request, *source, instructions, CODE_LISTED_MAX };

    return instructions ? list_parts(&reading) : reason;
}

void code_request_read(struct code_request *request, struct functions *functions,
                       const struct module_file *file, struct lines *lines)
{
    const struct listing_source source = {
        .functions = functions,
        .module = request->module,
        .lines = lines,
        .function = resolve_symbol(functions, request->module, request->start),
    };
    const char *reason = read_listing(request, &source, file);

    if (reason)
        return code_request_refuse(request, reason);
    request->listing.instructions = request->instructions;
    request->listing.load_bias = atomic_load_explicit(&request->module->bias, memory_order_relaxed);
    atomic_store_explicit(&request->done, true, memory_order_release);
}

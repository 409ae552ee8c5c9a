#include "describe.h"

#include "../naming/script_places.h"
#include "../store/frame.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const struct module *module)
{
    return atomic_load_explicit(&module->named, memory_order_acquire);
}

/* What a session says of the module; NULL: what is found here is to be told. */
static const struct module_saved *saved_of(const struct module *module)
{
    if (!module->saved || !module->saved->open ||
        atomic_load_explicit(&module->names, memory_order_acquire) != MODULE_NAMES_READ)
        return module->saved;
    return NULL;
}

static const char *names_reason(const struct module *module)
{
    if (!module->number || module->script || is_named(module) ||
        atomic_load_explicit(&module->names, memory_order_acquire) != MODULE_NAMES_READ)
        return NULL;
    return module->symbols ? symbols_reason(module->symbols) : "out of memory while reading it";
}

#define WORD_OF(name, word) word,
static const char *const runtime_words[] = { FEED_RUNTIMES(WORD_OF) };
#undef WORD_OF

static void describe_code(const struct elf_segment *code, struct snapshot_library *out)
{
    if (!code)
        return;
    out->code_offset = code->address;
    out->code_bytes = code->size;
    out->code_file_offset = code->offset;
    out->base = code->base;
}

void describe_library(const struct module *module, struct snapshot_library *out)
{
    const struct module_saved *saved = saved_of(module);
    uint8_t runs;

    *out = (struct snapshot_library){
        .path = module->path,
        .name = module->name,
        .load_bias = atomic_load_explicit(&module->bias, memory_order_relaxed),
        .reason = saved ? saved->reason : names_reason(module),
        .lines_reason = saved ? saved->lines_reason : NULL,
        .system = module->system,
    };
    runs = atomic_load_explicit(&module->runs, memory_order_relaxed);
    if (runs)
        out->runs = runtime_words[runs - 1];
    if (module->script) {
        out->runtime = runtime_words[module->runtime];
        out->package = script_package((enum feed_runtime_kind)module->runtime, module->path);
    }
    if (saved)
        describe_code(saved->code.size ? &saved->code : NULL, out);
    else if (atomic_load_explicit(&module->names, memory_order_acquire) == MODULE_NAMES_READ)
        describe_code(module->symbols ? symbols_code(module->symbols) : NULL, out);
    if (!saved && atomic_load_explicit(&module->lines, memory_order_acquire) == MODULE_LINES_NONE)
        out->lines_reason = atomic_load_explicit(&module->lines_reason, memory_order_relaxed);
    snprintf(out->id, sizeof(out->id), "libraries/%" PRIu32, module->number);
    memcpy(out->build_id, module->build_id_hex, sizeof(out->build_id));
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && !strcmp(text + length - end_length, end);
}

static enum snapshot_kind kind_of(const struct function *function, const struct module *module)
{
    if (module->script)
        return SNAPSHOT_INTERPRETED;
    return ends_with(function->name, "@plt") ? SNAPSHOT_STUB : SNAPSHOT_NATIVE;
}

void describe_function(const struct function *function, const struct module *module,
                       struct snapshot_function *out)
{
    *out = (struct snapshot_function){
        .name = function->name,
        .full_name = function->full_name,
        .raw_name = function->raw_name,
        .file = function->file,
        .file_number = function->file_number,
        .line = function->line,
        .kind = kind_of(function, module),
        .offset = function->start == FUNCTION_NO_START ? SNAPSHOT_NO_OFFSET : function->start,
        .size = function->size,
    };
    if (module->script) { /* it lies nowhere: its numbers are our own */
        out->offset = SNAPSHOT_NO_OFFSET;
        out->size = 0;
    }
    _Static_assert(sizeof(out->id) >= FUNCTION_ID_BYTES, "an id fits");
    memcpy(out->id, function->id, FUNCTION_ID_BYTES);
}

static enum snapshot_kind kind_of_named(const struct module *module)
{
    if (!strcmp(module->path, "[lock]"))
        return SNAPSHOT_NATIVE;
    return strcmp(module->path, "[jit]") ? SNAPSHOT_INTERPRETED : SNAPSHOT_JIT;
}

static bool is_gap(const struct module *module, uint64_t offset)
{
    return !module->number && offset == FEED_FRAME_OFFSET(FEED_FRAME_GAP);
}

uint64_t describe_pc(const struct module *module, uint64_t offset)
{
    return is_named(module) || module->script || is_gap(module, offset) ? SNAPSHOT_NO_OFFSET
                                                                        : offset;
}

void describe_offset(const struct module *module, uint64_t offset, const char *name,
                     struct snapshot_function *out)
{
    *out = (struct snapshot_function){
        .name = name,
        .full_name = name,
        .raw_name = name,
        .kind = is_named(module) ? kind_of_named(module) : SNAPSHOT_UNNAMED,
        .offset = describe_pc(module, offset),
    };
    snprintf(out->id, sizeof(out->id), "functions/%" PRIu32 "/%" PRIx64, module->number, offset);
}

char *describe_offset_name(const struct registry *registry, const struct module *module,
                           uint64_t offset)
{
    const char *given =
        is_named(module) ? names_text(registry_names(registry), (uint32_t)offset) : NULL;
    char *name;

    if (given)
        return strdup(given);
    if (is_gap(module, offset))
        return strdup("[frames left out]");
    return asprintf(&name, "%s+0x%" PRIx64, module->name, offset) < 0 ? NULL : name;
}

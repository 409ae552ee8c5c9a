#include "finder.h"

#include "runtime_file.h"

#include "../../capture/runtimes/v8/v8.h"

#include <stdio.h>
#include <string.h>

enum {
    FUNCTION_TYPES = 17, /* where V8 does not say which is the last */
    BYTECODE_SCALES = 3,
    SCRIPT_ID_AFTER = 8, /* behind line_ends */
    ADDRESS_END_BITS = 47,
    BUILTINS_BYTES_MIN = 512 * 1024,
};

/* What v8dbg_ constants say, by their names; the first one that is there. */
static const struct constant {
    enum v8_word word;
    const char *names[3];
} constants[] = {
    { V8_TYPE_CONTEXT_FIRST, { "FirstContextType" } },
    { V8_TYPE_CONTEXT_LAST, { "LastContextType" } },
    { V8_TYPE_FUNCTION_FIRST, { "type_JSFunction__JS_FUNCTION_TYPE" } },
    { V8_TYPE_SHARED, { "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE" } },
    { V8_TYPE_SCOPE, { "type_ScopeInfo__SCOPE_INFO_TYPE" } },
    { V8_TYPE_SCRIPT, { "type_Script__SCRIPT_TYPE" } },
    { V8_TYPE_BYTECODE, { "type_BytecodeArray__BYTECODE_ARRAY_TYPE" } },
    { V8_TYPE_INTERPRETER_DATA, { "type_InterpreterData__INTERPRETER_DATA_TYPE" } },
    { V8_TYPE_BYTES,
      { "type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE", "type_ByteArray__BYTE_ARRAY_TYPE" } },
    { V8_TYPE_CODE, { "type_Code__CODE_TYPE" } },
    { V8_TYPE_STREAM,
      { "type_InstructionStream__INSTRUCTION_STREAM_TYPE", "type_Code__CODE_TYPE" } },
    { V8_FUNCTION_SHARED, { "class_JSFunction__shared__SharedFunctionInfo" } },
    { V8_SHARED_NAME,
      { "class_SharedFunctionInfo__name_or_scope_info__Object",
        "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
        "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_" } },
    { V8_SHARED_SCRIPT,
      { "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
        "class_SharedFunctionInfo__raw_script__Tagged_Object_" } },
    { V8_SCRIPT_SOURCE, { "class_Script__source__Object" } },
    { V8_SCRIPT_NAME, { "class_Script__name__Object" } },
    { V8_SCRIPT_ID, { "class_Script__line_ends__Object" } },
    { V8_KIND_BASELINE, { "CodeKindBaseline" } },
};

/* What they do not say. */
struct layout {
    uint32_t version; /* major << 16 | minor */
    uint64_t words[V8_WORDS];
};

static const struct layout layouts[] = {
    { 10 << 16 | 2, /* node 18 */
      { [V8_SHARED_DATA] = 8,
        [V8_BYTECODE_HEADER] = 56,
        [V8_BYTECODE_PLACES] = 32,
        [V8_STREAM_HEADER] = 128,
        [V8_CODE_DATA] = 16,
        [V8_CODE_PLACES] = 24,
        [V8_CODE_BYTES] = 40,
        [V8_CODE_FLAGS] = 48,
        [V8_DEOPT_INLINED_COUNT] = 1,
        [V8_DEOPT_LITERALS] = 2,
        [V8_DEOPT_INLINED] = 7 } },
    { 11 << 16 | 3, /* node 20 */
      { [V8_SHARED_DATA] = 8,
        [V8_BYTECODE_HEADER] = 54,
        [V8_BYTECODE_PLACES] = 32,
        [V8_STREAM_HEADER] = 16,
        [V8_STREAM_CODE] = 8,
        [V8_CODE_DATA] = 16,
        [V8_CODE_PLACES] = 24,
        [V8_CODE_BYTES] = 56,
        [V8_CODE_FLAGS] = 48,
        [V8_DEOPT_INLINED_COUNT] = 1,
        [V8_DEOPT_LITERALS] = 2,
        [V8_DEOPT_INLINED] = 7 } },
    { 12 << 16 | 4, /* node 22 */
      { [V8_SHARED_DATA] = 8,
        [V8_SCOPE_MODULE] = 3,
        [V8_BYTECODE_HEADER] = 64,
        [V8_BYTECODE_PLACES] = 24,
        [V8_STREAM_HEADER] = 32,
        [V8_STREAM_CODE] = 8,
        [V8_CODE_DATA] = 8,
        [V8_CODE_PLACES] = 16,
        [V8_CODE_BYTES] = 52,
        [V8_CODE_FLAGS] = 48,
        [V8_DEOPT_INLINED_COUNT] = 1,
        [V8_DEOPT_LITERALS] = 2,
        [V8_DEOPT_INLINED] = 7 } },
    { 13 << 16 | 6, /* node 24 */
      { [V8_SHARED_DATA] = 8,
        [V8_SCOPE_PLACES_FIRST] = 1,
        [V8_SCOPE_MODULE] = 5,
        [V8_BYTECODE_HEADER] = 64,
        [V8_BYTECODE_PLACES] = 24,
        [V8_STREAM_HEADER] = 32,
        [V8_STREAM_CODE] = 8,
        [V8_CODE_DATA] = 8,
        [V8_CODE_PLACES] = 16,
        [V8_CODE_BYTES] = 56,
        [V8_CODE_FLAGS] = 52,
        [V8_DEOPT_INLINED_COUNT] = 1,
        [V8_DEOPT_LITERALS] = 3,
        [V8_DEOPT_INLINED] = 8 } },
};

static bool number_at(struct runtime_file *file, const char *symbol, int32_t *out)
{
    uint64_t vaddr;

    return runtime_file_symbol(file, symbol, &vaddr, NULL) &&
           runtime_file_bytes(file, vaddr, out, sizeof(*out));
}

static bool constant(struct runtime_file *file, const char *name, uint64_t *out)
{
    char symbol[128];
    int32_t value;

    snprintf(symbol, sizeof(symbol), "v8dbg_%s", name);
    if (!number_at(file, symbol, &value) || value < 0)
        return false;
    *out = (uint64_t)value;
    return true;
}

static bool read_constants(struct runtime_file *file, uint64_t words[V8_WORDS])
{
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        const struct constant *known = &constants[i];
        bool found = false;

        for (int name = 0; name < 3 && known->names[name] && !found; name++)
            found = constant(file, known->names[name], &words[known->word]);
        if (!found)
            return false;
    }
    if (!constant(file, "LastJSFunctionType", &words[V8_TYPE_FUNCTION_LAST]))
        words[V8_TYPE_FUNCTION_LAST] = words[V8_TYPE_FUNCTION_FIRST] + FUNCTION_TYPES - 1;
    words[V8_SCRIPT_ID] += SCRIPT_ID_AFTER;
    return true;
}

/* The walker takes these for granted. */
static bool is_usual(struct runtime_file *file)
{
    static const struct {
        const char *name;
        int32_t value;
    } usual[] = {
        { "v8dbg_TaggedSize", 8 },
        { "v8dbg_SmiShiftSize", 31 },
        { "v8dbg_HeapObjectTag", 1 },
        { "v8dbg_class_Map__instance_type__uint16_t", 12 },
        { "v8dbg_class_String__length__int32_t", 12 },
        { "v8dbg_class_ConsString__second__String", 24 },
        { "v8dbg_class_ThinString__actual__String", 16 },
        { "v8dbg_class_SlicedString__offset__SMI", 24 },
        { "v8dbg_class_ExternalString__resource__Object", 16 },
        { "v8dbg_OneByteStringTag", 8 },
        { "v8dbg_StringRepresentationMask", 7 },
        { "v8dbg_off_fp_context", -8 },
        { "v8dbg_off_fp_function", -16 },
        { "v8dbg_off_fp_bytecode_array", -32 },
        { "v8dbg_off_fp_bytecode_offset", -40 },
        { "v8dbg_FirstNonstringType", 128 },
    };
    int32_t value;

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (!number_at(file, usual[i].name, &value) || value != usual[i].value)
            return false;
    return true;
}

static bool version_of(struct runtime_file *file, uint32_t *out)
{
    int32_t major, minor;

    if (!number_at(file, "_ZN2v88internal7Version6major_E", &major) ||
        !number_at(file, "_ZN2v88internal7Version6minor_E", &minor))
        return false;
    *out = (uint32_t)major << 16 | (uint32_t)minor;
    return true;
}

/* Sizes of bytecodes: without them baseline code has no lines but its function's. */
static void find_bytecodes(const struct runtime_module *module, uint64_t words[V8_WORDS])
{
    uint64_t vaddr, bytes;

    if (!runtime_file_symbol(module->file,
                             "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE", &vaddr,
                             &bytes) ||
        !bytes || bytes % BYTECODE_SCALES || bytes / BYTECODE_SCALES > 256)
        return;
    words[V8_BYTECODE_SIZES] = vaddr + module->bias;
    words[V8_BYTECODE_KINDS] = bytes / BYTECODE_SCALES;
}

/* Built-in code where the file has it. Up to 10.x the first symbol is a pointer to the second. A stripped
 * file (Debian's) has neither: of no other code that large it has no unwind data. */
static bool find_builtins(struct runtime_file *file, struct runtime_piece *out)
{
    int32_t bytes;

    if (!number_at(file, "v8_Default_embedded_blob_code_size_", &bytes) || bytes <= 0 ||
        (!runtime_file_symbol(file, "v8_Default_embedded_blob_code_data_", &out->start, NULL) &&
         !runtime_file_symbol(file, "v8_Default_embedded_blob_code_", &out->start, NULL)))
        return runtime_file_gap(file, out) && out->end - out->start >= BUILTINS_BYTES_MIN;
    out->end = out->start + (uint64_t)bytes;
    return true;
}

static bool find_ranges(const struct runtime_module *module, struct feed_runtime *out)
{
    struct runtime_piece builtins;

    if (!find_builtins(module->file, &builtins))
        return false;
    out->ranges[0] = (struct feed_runtime_range){ .start = builtins.start + module->bias,
                                                  .end = builtins.end + module->bias,
                                                  .what = V8_BUILTINS };
    out->ranges[1] = (struct feed_runtime_range){
        .start = 1, .end = UINT64_C(1) << ADDRESS_END_BITS, .what = V8_ELSEWHERE, .outside = 1
    };
    out->range_count = 2;
    return true;
}

enum runtime_found v8_find(const struct runtime_module *module, struct feed_runtime *out,
                           const char **reason)
{
    const struct layout *layout = NULL;

    if (!version_of(module->file, &out->version))
        return RUNTIME_NOT_HERE;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].version == out->version)
            layout = &layouts[i];
    *reason = "not one of the versions in node 18, 20, 22 and 24";
    if (!layout)
        return RUNTIME_UNKNOWN;
    memcpy(out->words, layout->words, sizeof(layout->words));
    *reason = "it does not tell its layout, or has another one";
    if (!is_usual(module->file) || !read_constants(module->file, out->words))
        return RUNTIME_UNKNOWN;
    *reason = "its built-in code is not found";
    if (!find_ranges(module, out))
        return RUNTIME_UNKNOWN;
    find_bytecodes(module, out->words);
    return RUNTIME_FOUND;
}

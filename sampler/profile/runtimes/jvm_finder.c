#include "jvm_structs.h"
#include "runtime_file.h"

#include "../../capture/runtimes/jvm/jvm.h"
#include "../../capture/system/memory.h"

#include <string.h>

enum {
    VERSION_MIN = 8,
    VERSION_PACKED_WITHOUT_ZERO = 20,
    BCP_SLOT_8 = 7, /* in words below the frame pointer; later there is the mirror above it */
    BCP_SLOT = 8,
    PC_DESC_BYTES = 16,
    CONST_METHOD_BYTES_MAX = 64, /* what the walker has room for */
    HEAP_BYTES_MAX = 1 << 30,    /* twice the largest code cache there can be */
};

static const char *const not_whole = "its libjvm.so does not tell all that is needed of its layout";

/* What is under way for one process. */
struct finding {
    const struct runtime_module *module;
    struct jvm_structs structs;
    struct feed_runtime *out;
};

static bool has(const struct finding *finding, enum jvm_field field)
{
    return finding->structs.fields[field].there;
}

static uint64_t value(const struct finding *finding, enum jvm_field field)
{
    return finding->structs.fields[field].value;
}

static bool read_at(const struct finding *finding, uint64_t address, void *out, uint64_t bytes)
{
    return memory_read(finding->module->pid, out, address, bytes);
}

/* The word is the field's offset. False: there is none. */
static bool take(struct finding *finding, enum jvm_word word, enum jvm_field field)
{
    if (!has(finding, field))
        return false;
    finding->out->words[word] = value(finding, field);
    return true;
}

static bool take_section(struct finding *finding, enum jvm_word word, enum jvm_field field,
                         enum jvm_word is, enum jvm_section section)
{
    finding->out->words[is] = section;
    return take(finding, word, field);
}

static bool take_blob(struct finding *finding, uint32_t major)
{
    uint64_t *words = finding->out->words;
    bool by_address = has(finding, JVM_FIELD_BLOB_CODE_BEGIN);

    if (!finding->structs.sizes[JVM_SIZE_BLOCK].there || !has(finding, JVM_FIELD_BLOCK_HEADER) ||
        !take(finding, JVM_BLOCK_USED, JVM_FIELD_BLOCK_USED))
        return false;
    words[JVM_BLOB_BYTES] = finding->structs.sizes[JVM_SIZE_BLOB].value;
    if (!words[JVM_BLOB_BYTES] || words[JVM_BLOB_BYTES] > JVM_BLOB_BYTES_MAX)
        return false;
    words[JVM_BLOCK_BYTES] = finding->structs.sizes[JVM_SIZE_BLOCK].value;
    words[JVM_BLOCK_USED] += value(finding, JVM_FIELD_BLOCK_HEADER);
    words[JVM_BLOB_CODE_IS_OFFSET] = !by_address;
    /* Since the blob keeps its code by offset it is short of room in other fields, too. */
    words[JVM_BLOB_FRAME_COMPLETE_BYTES] = by_address || major < 23 ? 4 : 2;
    return take(finding, JVM_BLOB_NAME, JVM_FIELD_BLOB_NAME) &&
           take(finding, JVM_BLOB_SIZE, JVM_FIELD_BLOB_SIZE) &&
           take(finding, JVM_BLOB_FRAME_SIZE, JVM_FIELD_BLOB_FRAME_SIZE) &&
           take(finding, JVM_BLOB_FRAME_COMPLETE, JVM_FIELD_BLOB_FRAME_COMPLETE) &&
           take(finding, JVM_BLOB_CODE,
                by_address ? JVM_FIELD_BLOB_CODE_BEGIN : JVM_FIELD_BLOB_CODE_OFFSET);
}

/* Debug info: in the blob, from JDK 23 on beside it. */
static bool take_scopes(struct finding *finding)
{
    if (has(finding, JVM_FIELD_IMMUTABLE))
        return take(finding, JVM_IMMUTABLE_DATA, JVM_FIELD_IMMUTABLE) &&
               take_section(finding, JVM_SCOPES_DATA, JVM_FIELD_SCOPES_OFFSET, JVM_SCOPES_DATA_IS,
                            JVM_SECTION_IMMUTABLE) &&
               take_section(finding, JVM_SCOPES_PCS, JVM_FIELD_PCS_OFFSET, JVM_SCOPES_PCS_IS,
                            JVM_SECTION_IMMUTABLE) &&
               take(finding, JVM_SCOPES_PCS_END, JVM_FIELD_SCOPES_OFFSET);
    if (!take_section(finding, JVM_SCOPES_DATA, JVM_FIELD_SCOPES_BEGIN, JVM_SCOPES_DATA_IS,
                      JVM_SECTION_ADDRESS) &&
        !take_section(finding, JVM_SCOPES_DATA, JVM_FIELD_SCOPES_OFFSET, JVM_SCOPES_DATA_IS,
                      JVM_SECTION_BLOB))
        return false;
    return take_section(finding, JVM_SCOPES_PCS, JVM_FIELD_PCS_OFFSET, JVM_SCOPES_PCS_IS,
                        JVM_SECTION_BLOB) &&
           take(finding, JVM_SCOPES_PCS_END, JVM_FIELD_DEPENDENCIES_OFFSET);
}

/* The methods that scopes name: in the blob; from JDK 23 on by a short offset in its data; from 25 on
 * outside of it, behind the relocations. */
static bool take_metadata(struct finding *finding)
{
    if (has(finding, JVM_FIELD_BLOB_MUTABLE))
        return take(finding, JVM_MUTABLE_DATA, JVM_FIELD_BLOB_MUTABLE) &&
               take_section(finding, JVM_METADATA, JVM_FIELD_BLOB_RELOCATION_SIZE, JVM_METADATA_IS,
                            JVM_SECTION_MUTABLE);
    return take(finding, JVM_DATA_OFFSET, JVM_FIELD_BLOB_DATA_OFFSET) &&
           take_section(finding, JVM_METADATA, JVM_FIELD_METADATA_OFFSET, JVM_METADATA_IS,
                        has(finding, JVM_FIELD_IMMUTABLE) ? JVM_SECTION_DATA : JVM_SECTION_BLOB);
}

static bool take_compiled(struct finding *finding)
{
    bool by_address = take(finding, JVM_NMETHOD_DEOPT, JVM_FIELD_DEOPT_BEGIN);

    finding->out->words[JVM_DEOPT_IS_OFFSET] = !by_address;
    if (by_address)
        take(finding, JVM_NMETHOD_DEOPT_MH, JVM_FIELD_DEOPT_MH_BEGIN);
    else if (take(finding, JVM_NMETHOD_DEOPT, JVM_FIELD_DEOPT_OFFSET))
        take(finding, JVM_NMETHOD_DEOPT_MH, JVM_FIELD_DEOPT_MH_OFFSET);
    else if (take(finding, JVM_NMETHOD_DEOPT, JVM_FIELD_DEOPT_8))
        take(finding, JVM_NMETHOD_DEOPT_MH, JVM_FIELD_DEOPT_MH_8);
    else
        return false;
    return (take(finding, JVM_NMETHOD_METHOD, JVM_FIELD_COMPILED_METHOD) ||
            take(finding, JVM_NMETHOD_METHOD, JVM_FIELD_NMETHOD_METHOD)) &&
           take(finding, JVM_NMETHOD_COMPILE_ID, JVM_FIELD_COMPILE_ID) &&
           take(finding, JVM_NMETHOD_ORIG_PC, JVM_FIELD_ORIG_PC) && take_scopes(finding) &&
           take_metadata(finding);
}

static bool take_method(struct finding *finding)
{
    const struct jvm_value *constants = finding->structs.constants;
    const struct jvm_value *sizes = finding->structs.sizes;
    uint64_t *words = finding->out->words;
    bool flags_21 = take(finding, JVM_CONST_FLAGS, JVM_FIELD_CONST_FLAGS_21);

    if (!flags_21 && !take(finding, JVM_CONST_FLAGS, JVM_FIELD_CONST_FLAGS))
        return false;
    words[JVM_CONST_FLAG_LINES] =
        constants[flags_21 ? JVM_CONSTANT_HAS_LINES_21 : JVM_CONSTANT_HAS_LINES].value;
    words[JVM_CONST_BYTES] = sizes[JVM_SIZE_CONST_METHOD].value;
    words[JVM_POOL_BYTES] = sizes[JVM_SIZE_POOL].value;
    words[JVM_SOURCE_FILE_IN_KLASS] = has(finding, JVM_FIELD_KLASS_SOURCE_FILE);
    return words[JVM_CONST_BYTES] && words[JVM_CONST_BYTES] <= CONST_METHOD_BYTES_MAX &&
           words[JVM_POOL_BYTES] && take(finding, JVM_METHOD_CONST, JVM_FIELD_METHOD_CONST) &&
           take(finding, JVM_CONST_POOL, JVM_FIELD_CONST_POOL) &&
           take(finding, JVM_CONST_SIZE, JVM_FIELD_CONST_SIZE) &&
           take(finding, JVM_CONST_CODE_SIZE, JVM_FIELD_CONST_CODE_SIZE) &&
           take(finding, JVM_CONST_NAME, JVM_FIELD_CONST_NAME) &&
           take(finding, JVM_CONST_MAX_STACK, JVM_FIELD_CONST_MAX_STACK) &&
           take(finding, JVM_POOL_LENGTH, JVM_FIELD_POOL_LENGTH) &&
           take(finding, JVM_POOL_HOLDER, JVM_FIELD_POOL_HOLDER) &&
           (take(finding, JVM_SOURCE_FILE, JVM_FIELD_KLASS_SOURCE_FILE) ||
            take(finding, JVM_SOURCE_FILE, JVM_FIELD_POOL_SOURCE_FILE)) &&
           take(finding, JVM_KLASS_NAME, JVM_FIELD_KLASS_NAME) &&
           take(finding, JVM_SYMBOL_LENGTH, JVM_FIELD_SYMBOL_LENGTH) &&
           (take(finding, JVM_SYMBOL_BODY, JVM_FIELD_SYMBOL_BODY) ||
            take(finding, JVM_SYMBOL_BODY, JVM_FIELD_SYMBOL_BODY_0));
}

/* One heap is one range. */
static bool take_heap(struct finding *finding, uint64_t heap)
{
    struct feed_runtime *out = finding->out;
    uint64_t memory = heap + value(finding, JVM_FIELD_HEAP_MEMORY);
    uint64_t segments = heap + value(finding, JVM_FIELD_HEAP_SEGMENTS);
    struct feed_runtime_range range = { 0 };
    uint64_t map;
    int32_t log2;

    if (out->range_count >= FEED_RUNTIME_RANGES_MAX ||
        !read_at(finding, memory + value(finding, JVM_FIELD_SPACE_LOW), &range.start, 8) ||
        !read_at(finding, memory + value(finding, JVM_FIELD_SPACE_HIGH), &range.end, 8) ||
        !read_at(finding, segments + value(finding, JVM_FIELD_SPACE_LOW), &map, 8) ||
        !read_at(finding, heap + value(finding, JVM_FIELD_HEAP_LOG2), &log2, sizeof log2) || !map ||
        log2 < 3 || log2 > 16 || !range.start || range.end <= range.start ||
        range.end - range.start > HEAP_BYTES_MAX)
        return false;
    out->words[JVM_SEGMENT_MAP_0 + out->range_count] = map;
    out->words[JVM_SEGMENT_LOG2_0 + out->range_count] = (uint64_t)log2;
    out->ranges[out->range_count++] = range;
    return true;
}

static bool take_heaps(struct finding *finding)
{
    uint64_t list, data, heap;
    int32_t count;
    enum jvm_field length =
        has(finding, JVM_FIELD_LIST_LENGTH) ? JVM_FIELD_LIST_LENGTH : JVM_FIELD_LIST_LENGTH_GENERIC;

    if (has(finding, JVM_FIELD_HEAP))
        return read_at(finding, value(finding, JVM_FIELD_HEAP), &heap, 8) && heap &&
               take_heap(finding, heap);
    if (!read_at(finding, value(finding, JVM_FIELD_HEAPS), &list, 8) || !list ||
        !read_at(finding, list + value(finding, length), &count, sizeof count) || count < 1 ||
        count > FEED_RUNTIME_RANGES_MAX ||
        !read_at(finding, list + value(finding, JVM_FIELD_LIST_DATA), &data, 8))
        return false;
    for (int32_t i = 0; i < count; i++)
        if (!read_at(finding, data + (uint64_t)i * 8, &heap, 8) || !take_heap(finding, heap))
            return false;
    return true;
}

/* All that is there only when the machine runs. */
static bool take_places(struct finding *finding)
{
    uint64_t *words = finding->out->words, queue;
    int32_t limit;

    if (!read_at(finding, value(finding, JVM_FIELD_CALL_STUB_RETURN), &words[JVM_CALL_STUB_RETURN],
                 8) ||
        !words[JVM_CALL_STUB_RETURN] ||
        !read_at(finding, value(finding, JVM_FIELD_INTERPRETER), &queue, 8) || !queue ||
        !read_at(finding, queue + value(finding, JVM_FIELD_QUEUE_BUFFER),
                 &words[JVM_INTERPRETER_LOW], 8) ||
        !read_at(finding, queue + value(finding, JVM_FIELD_QUEUE_LIMIT), &limit, sizeof limit) ||
        !words[JVM_INTERPRETER_LOW] || limit <= 0)
        return false;
    words[JVM_INTERPRETER_HIGH] = words[JVM_INTERPRETER_LOW] + (uint32_t)limit;
    return take_heaps(finding);
}

/* What take_places asks for without looking. */
static bool has_places(const struct finding *finding)
{
    static const enum jvm_field needed[] = {
        JVM_FIELD_LIST_DATA,     JVM_FIELD_HEAP_MEMORY,      JVM_FIELD_HEAP_SEGMENTS,
        JVM_FIELD_HEAP_LOG2,     JVM_FIELD_SPACE_LOW,        JVM_FIELD_SPACE_HIGH,
        JVM_FIELD_INTERPRETER,   JVM_FIELD_QUEUE_LIMIT,      JVM_FIELD_QUEUE_BUFFER,
        JVM_FIELD_VERSION_MAJOR, JVM_FIELD_CALL_STUB_RETURN,
    };

    for (uint32_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!has(finding, needed[i]))
            return false;
    return has(finding, JVM_FIELD_HEAP) ||
           (has(finding, JVM_FIELD_HEAPS) &&
            (has(finding, JVM_FIELD_LIST_LENGTH) || has(finding, JVM_FIELD_LIST_LENGTH_GENERIC)));
}

enum runtime_found jvm_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason)
{
    struct finding finding = { .module = module, .out = out };
    uint64_t vaddr;
    int32_t major;

    if (!runtime_file_symbol(module->file, "gHotSpotVMStructs", &vaddr, NULL))
        return RUNTIME_NOT_HERE;
    if (!jvm_structs_read(module, &finding.structs))
        return RUNTIME_NOT_YET;
    *reason = not_whole;
    if (!has_places(&finding) ||
        !read_at(&finding, value(&finding, JVM_FIELD_VERSION_MAJOR), &major, sizeof major))
        return RUNTIME_UNKNOWN;
    /* HotSpot had numbers of its own up to JDK 8, which still had one code heap. */
    if (has(&finding, JVM_FIELD_HEAP))
        major = VERSION_MIN;
    out->kind = FEED_RUNTIME_JVM;
    out->version = (uint32_t)major;
    out->words[JVM_BCP_SLOT] = major > VERSION_MIN ? BCP_SLOT : BCP_SLOT_8;
    out->words[JVM_PACKED_EXCLUDES] = major >= VERSION_PACKED_WITHOUT_ZERO;
    out->words[JVM_LINES] =
        major >= VERSION_PACKED_WITHOUT_ZERO ? FEED_LINES_JVM_20 : FEED_LINES_JVM;
    if (major < VERSION_MIN ||
        finding.structs.constants[JVM_CONSTANT_SENDER_SP].value != UINT64_MAX ||
        finding.structs.sizes[JVM_SIZE_PC_DESC].value != PC_DESC_BYTES ||
        !take_blob(&finding, (uint32_t)major) || !take_compiled(&finding) || !take_method(&finding))
        return RUNTIME_UNKNOWN;
    if (!take_places(&finding)) {
        out->range_count = 0;
        return RUNTIME_NOT_YET;
    }
    return RUNTIME_FOUND;
}

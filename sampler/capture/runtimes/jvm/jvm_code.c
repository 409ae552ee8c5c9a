#include "jvm_code.h"

#include "jvm_packed.h"

#include <string.h>

SIGNAL_SAFE_INLINE bool read_int(struct guarded_memory *memory, uint64_t address, int32_t *out)
{
    return guarded_read(memory, out, address, sizeof *out);
}

SIGNAL_SAFE_INLINE bool read_short(struct guarded_memory *memory, uint64_t address, int32_t *out)
{
    uint16_t number;

    if (!guarded_read(memory, &number, address, sizeof number))
        return false;
    *out = number;
    return true;
}

/* A block's first segment has 0 in the map; others say how far back to go, at most. */
enum { SEGMENT_FREE = 0xff, SEGMENT_HOPS_MAX = 512 };

SIGNAL_SAFE_INLINE bool find_block(struct guarded_memory *memory,
                                   const struct feed_runtime *runtime, uint64_t pc, uint64_t *out)
{
    for (uint32_t i = 0; i < runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++) {
        uint64_t map = runtime->words[JVM_SEGMENT_MAP_0 + i];
        uint64_t log2 = runtime->words[JVM_SEGMENT_LOG2_0 + i] & 31;
        uint64_t start = runtime->ranges[i].start, segment = (pc - start) >> log2;
        uint8_t back;

        if (pc < start || pc >= runtime->ranges[i].end)
            continue;
        for (uint32_t hops = 0; hops < SEGMENT_HOPS_MAX; hops++) {
            if (!guarded_read(memory, &back, map + segment, 1) || back == SEGMENT_FREE ||
                back > segment)
                return false;
            if (!back) {
                *out = start + (segment << log2);
                return true;
            }
            segment -= back;
        }
        return false;
    }
    return false;
}

/* Names are the only mark that all versions have. */
SIGNAL_SAFE_INLINE enum jvm_blob_kind kind_by_name(struct guarded_memory *memory, uint64_t name)
{
    char word[8];

    if (!guarded_read(memory, word, name, sizeof word))
        return JVM_BLOB_STUB;
    if (!memcmp(word, "nmethod", 8))
        return JVM_BLOB_COMPILED;
    return memcmp(word, "native n", 8) ? JVM_BLOB_STUB : JVM_BLOB_NATIVE;
}

/* What all blobs begin with, read in one. */
struct blob_head {
    uint8_t bytes[JVM_BLOB_BYTES_MAX];
};

SIGNAL_SAFE_INLINE void head_field(const struct blob_head *head, uint64_t offset, void *out,
                                   size_t bytes)
{
    memcpy(out, head->bytes + (offset < JVM_BLOB_BYTES_MAX - 8 ? offset : 0), bytes);
}

SIGNAL_SAFE_INLINE int32_t head_int(const struct blob_head *head, uint64_t offset)
{
    int32_t number;

    head_field(head, offset, &number, sizeof number);
    return number;
}

SIGNAL_SAFE_INLINE uint64_t head_code(const struct feed_runtime *runtime,
                                      const struct blob_head *head, uint64_t address)
{
    uint64_t code;

    if (runtime->words[JVM_BLOB_CODE_IS_OFFSET])
        return address + (uint32_t)head_int(head, runtime->words[JVM_BLOB_CODE]);
    head_field(head, runtime->words[JVM_BLOB_CODE], &code, sizeof code);
    return code;
}

SIGNAL_SAFE_INLINE void take_frame(const struct feed_runtime *runtime, const struct blob_head *head,
                                   struct jvm_blob *blob)
{
    int32_t words = head_int(head, runtime->words[JVM_BLOB_FRAME_SIZE]);

    blob->frame_complete = head_int(head, runtime->words[JVM_BLOB_FRAME_COMPLETE]);
    if (runtime->words[JVM_BLOB_FRAME_COMPLETE_BYTES] == 2)
        blob->frame_complete = (int16_t)blob->frame_complete;
    /* A frame of 1 MiB: larger ones there are none. */
    blob->frame_bytes = words > 1 && words < 1 << 17 ? (uint64_t)words * 8 : 0;
}

bool jvm_code_find(struct guarded_memory *memory, const struct feed_runtime *runtime, uint64_t pc,
                   struct jvm_blob *out)
{
    const uint64_t *words = runtime->words;
    uint64_t block;
    struct blob_head head = { { 0 } };
    uint8_t used;
    int32_t size, compile_id;

    if (!find_block(memory, runtime, pc, &block) ||
        !guarded_read(memory, &used, block + words[JVM_BLOCK_USED], 1) || used != 1)
        return false;
    memset(out, 0, sizeof *out);
    out->address = block + words[JVM_BLOCK_BYTES];
    if (words[JVM_BLOB_BYTES] > sizeof head.bytes ||
        !guarded_read(memory, head.bytes, out->address, words[JVM_BLOB_BYTES]))
        return false;
    size = head_int(&head, words[JVM_BLOB_SIZE]);
    out->code = head_code(runtime, &head, out->address);
    take_frame(runtime, &head, out);
    head_field(&head, words[JVM_BLOB_NAME], &out->name, sizeof out->name);
    out->end = out->address + (uint32_t)size;
    if (size <= 0 || pc < out->code || pc >= out->end || out->code < out->address)
        return false;
    if (pc >= words[JVM_INTERPRETER_LOW] && pc < words[JVM_INTERPRETER_HIGH]) {
        out->kind = JVM_BLOB_INTERPRETER;
        return true;
    }
    out->kind = kind_by_name(memory, out->name);
    if (out->kind == JVM_BLOB_STUB)
        return true;
    if (!guarded_word(memory, out->address + words[JVM_NMETHOD_METHOD], &out->method) ||
        !read_int(memory, out->address + words[JVM_NMETHOD_COMPILE_ID], &compile_id))
        return false;
    out->compile_id = (uint32_t)compile_id;
    return true;
}

/* Where a section begins whose field lies at `field` in the blob. */
SIGNAL_SAFE_INLINE bool section(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                const struct jvm_blob *blob, enum jvm_word field,
                                enum jvm_section is, uint64_t *out)
{
    const uint64_t *words = runtime->words;
    uint64_t at = blob->address + words[field], base = blob->address;
    int32_t offset;

    if (is == JVM_SECTION_ADDRESS)
        return guarded_word(memory, at, out);
    if (is == JVM_SECTION_DATA) {
        int32_t data;

        if (!read_int(memory, blob->address + words[JVM_DATA_OFFSET], &data) ||
            !read_short(memory, at, &offset))
            return false;
        *out = base + (uint64_t)data + (uint64_t)offset;
        return data >= 0;
    }
    if (is == JVM_SECTION_IMMUTABLE &&
        !guarded_word(memory, blob->address + words[JVM_IMMUTABLE_DATA], &base))
        return false;
    if (is == JVM_SECTION_MUTABLE &&
        !guarded_word(memory, blob->address + words[JVM_MUTABLE_DATA], &base))
        return false;
    if (!read_int(memory, at, &offset) || offset < 0)
        return false;
    *out = base + (uint64_t)offset;
    return true;
}

enum {
    PC_DESC_BYTES = 16,
    PC_DESCS_MAX = 1 << 20,
    SCOPE_BYTES = 3 * JVM_PACKED_BYTES_MAX,
};

/* The first description that stands for pc or for what follows it. They ascend; the last one is a sentinel. */
SIGNAL_SAFE_INLINE bool find_pc_desc(struct guarded_memory *memory, uint64_t first, uint32_t count,
                                     int32_t offset, uint64_t *at, int32_t out[2])
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int32_t here;

        if (!read_int(memory, first + (uint64_t)middle * PC_DESC_BYTES, &here))
            return false;
        if (here < offset)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return low < count &&
           guarded_read(memory, out, first + (uint64_t)low * PC_DESC_BYTES, 2 * sizeof *out);
}

SIGNAL_SAFE_INLINE bool read_scope(struct guarded_memory *memory,
                                   const struct feed_runtime *runtime, const struct jvm_blob *blob,
                                   uint32_t at, struct jvm_scope *out)
{
    uint8_t bytes[SCOPE_BYTES] = { 0 };
    struct jvm_packed packed = { bytes, bytes + sizeof bytes,
                                 (uint32_t)runtime->words[JVM_PACKED_EXCLUDES] };
    uint64_t data;
    uint32_t bci;

    if (!section(memory, runtime, blob, JVM_SCOPES_DATA,
                 (enum jvm_section)runtime->words[JVM_SCOPES_DATA_IS], &data) ||
        !guarded_read(memory, bytes, data + at, sizeof bytes) ||
        !jvm_packed_next(&packed, &out->outer) || !jvm_packed_next(&packed, &out->method) ||
        !jvm_packed_next(&packed, &bci))
        return false;
    /* Counted from -1, which is the method's entry. */
    out->bci = bci && bci <= UINT16_MAX + 1 ? bci - 1 : 0;
    out->at = at;
    return true;
}

bool jvm_code_scope(struct guarded_memory *memory, const struct feed_runtime *runtime,
                    const struct jvm_blob *blob, uint64_t pc, struct jvm_scope *out, bool *exact)
{
    enum jvm_section is = (enum jvm_section)runtime->words[JVM_SCOPES_PCS_IS];
    uint64_t first, end, at;
    int32_t found[2], offset = (int32_t)(pc - blob->code);

    *exact = false;
    if (!section(memory, runtime, blob, JVM_SCOPES_PCS, is, &first) ||
        !section(memory, runtime, blob, JVM_SCOPES_PCS_END, is, &end) || end < first ||
        (end - first) / PC_DESC_BYTES > PC_DESCS_MAX ||
        !find_pc_desc(memory, first, (uint32_t)((end - first) / PC_DESC_BYTES), offset, &at, found))
        return false;
    *exact = found[0] == offset;
    if (found[1] > 0)
        return read_scope(memory, runtime, blob, (uint32_t)found[1], out);
    /* Behind the last one: what that says of the method itself is near, of an inlined one it is not. */
    return at && guarded_read(memory, found, first + (at - 1) * PC_DESC_BYTES, sizeof found) &&
           found[1] > 0 && read_scope(memory, runtime, blob, (uint32_t)found[1], out) &&
           !out->outer;
}

bool jvm_scope_next(struct guarded_memory *memory, const struct feed_runtime *runtime,
                    const struct jvm_blob *blob, struct jvm_scope *scope)
{
    /* A caller was described before what it calls: so this ends. */
    return scope->outer && scope->outer < scope->at &&
           read_scope(memory, runtime, blob, scope->outer, scope);
}

bool jvm_scope_method(struct guarded_memory *memory, const struct feed_runtime *runtime,
                      const struct jvm_blob *blob, const struct jvm_scope *scope, uint64_t *out)
{
    uint64_t metadata;

    return scope->method && scope->method <= UINT16_MAX &&
           section(memory, runtime, blob, JVM_METADATA,
                   (enum jvm_section)runtime->words[JVM_METADATA_IS], &metadata) &&
           guarded_word(memory, metadata + (scope->method - 1) * 8, out);
}

SIGNAL_SAFE_INLINE bool is_handler(struct guarded_memory *memory,
                                   const struct feed_runtime *runtime, const struct jvm_blob *blob,
                                   enum jvm_word field, uint64_t pc)
{
    uint64_t handler;

    return section(memory, runtime, blob, field,
                   runtime->words[JVM_DEOPT_IS_OFFSET] ? JVM_SECTION_BLOB : JVM_SECTION_ADDRESS,
                   &handler) &&
           handler == pc;
}

bool jvm_code_deopt(struct guarded_memory *memory, const struct feed_runtime *runtime,
                    const struct jvm_blob *blob, uint64_t sp, uint64_t *pc)
{
    int32_t offset;
    uint64_t before;

    if (!is_handler(memory, runtime, blob, JVM_NMETHOD_DEOPT, *pc) &&
        !(runtime->words[JVM_NMETHOD_DEOPT_MH] &&
          is_handler(memory, runtime, blob, JVM_NMETHOD_DEOPT_MH, *pc)))
        return false;
    if (!read_int(memory, blob->address + runtime->words[JVM_NMETHOD_ORIG_PC], &offset) ||
        offset < 0 || (uint64_t)offset > blob->frame_bytes ||
        !guarded_word(memory, sp + (uint64_t)offset, &before) || before <= blob->code ||
        before > blob->end)
        return false;
    *pc = before;
    return true;
}

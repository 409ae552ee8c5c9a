#include "v8_machine.h"
#include "v8_code.h"

#include <string.h>

enum {
    ALIGN = 64,
    BLOCK = 1024,          /* read at a time */
    BACK_MAX = 256 * 1024, /* V8 keeps what is larger by itself */
    READ_ONLY_PAGE = 1 << 18,
    PLACE_TAG = 1 << 10,
    NOWHERE = 0xffffff, /* for a place in the cache */
    FOLLOWS = 0x80,
    NUMBER_BITS = 7,
    STEPS_MAX = 1 << 14,
    BYTECODE_WIDE = 0, /* says that operands of the next one are of 2 bytes */
    BYTECODE_EXTRA_WIDE = 1,
    BYTECODE_BREAK_WIDE = 2,
    BYTECODE_BREAK_EXTRA_WIDE = 3,
    KIND_MASK = 15,
};

SIGNAL_SAFE_INLINE uint64_t aligned(uint64_t pc)
{
    return pc & ~(uint64_t)(ALIGN - 1);
}

/* What is at a head: is it one, and is pc in it? */
static SIGNAL_SAFE bool read_head(const struct v8_walk *walk, uint64_t start, uint64_t pc,
                                  struct v8_machine *out)
{
    uint64_t stream = start - walk->words[V8_STREAM_HEADER] + V8_TAG, code = stream;
    uint32_t bytes, flags;

    if (!v8_is(walk, stream, V8_TYPE_STREAM) ||
        (walk->words[V8_STREAM_CODE] &&
         !v8_field(walk, stream, walk->words[V8_STREAM_CODE], &code)) ||
        !v8_is(walk, code, V8_TYPE_CODE) ||
        !guarded_read(&walk->scan->memory, &bytes, code - V8_TAG + walk->words[V8_CODE_BYTES],
                      sizeof bytes) ||
        !guarded_read(&walk->scan->memory, &flags, code - V8_TAG + walk->words[V8_CODE_FLAGS],
                      sizeof flags) ||
        pc < start || pc - start >= bytes)
        return false;
    *out = (struct v8_machine){ code, start, flags & KIND_MASK };
    return true;
}

/* The nearest head at or before pc; 0: none. Machine code seldom looks like a pointer to that page. */
static SIGNAL_SAFE uint64_t look_back(const struct v8_walk *walk, uint64_t pc, uint64_t near)
{
    uint64_t words[BLOCK / 8], header = walk->words[V8_STREAM_HEADER];
    uint64_t at = aligned(pc) - header, first = at - (BLOCK - ALIGN);
    struct v8_machine ignored;

    for (uint32_t back = 0; back < BACK_MAX; back += BLOCK, first -= BLOCK) {
        if (!guarded_read(&walk->scan->memory, words, first, sizeof words)) {
            /* Nothing is mapped before: only the words that are on pc's page. */
            uint64_t page = (first + BLOCK - 8) & ~UINT64_C(4095);

            if (first >= page || first + BLOCK <= page)
                return 0;
            memset(words, 0, sizeof words);
            if (!guarded_read(&walk->scan->memory, (uint8_t *)words + (page - first), page,
                              (size_t)(first + BLOCK - page)))
                return 0;
        }
        for (uint32_t i = BLOCK / ALIGN; i--;) {
            uint64_t map = words[i * (ALIGN / 8)], start = first + (uint64_t)i * ALIGN + header;

            if (v8_is_object(map) && (map ^ near) < READ_ONLY_PAGE && start <= pc &&
                read_head(walk, start, pc, &ignored))
                return start;
        }
    }
    return 0;
}

bool v8_machine_find(const struct v8_walk *walk, uint64_t pc, uint64_t near, struct v8_machine *out)
{
    struct code_cache *cache = walk->scan->cache;
    uint64_t key = code_key_add(code_key_add(code_key_begin(walk->entry), PLACE_TAG), pc), start;
    uint32_t known = cache ? code_cache_find(cache, key) : 0;

    if (known == NOWHERE)
        return false;
    if (known && read_head(walk, aligned(pc) - (uint64_t)(known - 1) * ALIGN, pc, out))
        return true;
    start = look_back(walk, pc, near);
    if (cache)
        code_cache_put(cache, key, start ? (uint32_t)(aligned(pc) - start) / ALIGN + 1 : NOWHERE);
    return start && read_head(walk, start, pc, out);
}

/* Bytes, one after the other. */
struct bytes {
    const struct v8_walk *walk;
    uint64_t at, left, block_at;
    uint32_t held;
    uint8_t block[256];
};

static SIGNAL_SAFE bool next_byte(struct bytes *bytes, uint8_t *out)
{
    if (!bytes->left)
        return false;
    if (bytes->at - bytes->block_at >= bytes->held) {
        bytes->block_at = bytes->at;
        bytes->held = bytes->left < sizeof bytes->block ? (uint32_t)bytes->left
                                                        : (uint32_t)sizeof bytes->block;
        if (!guarded_read(&bytes->walk->scan->memory, bytes->block, bytes->at, bytes->held))
            return false;
    }
    *out = bytes->block[bytes->at - bytes->block_at];
    bytes->at++;
    bytes->left--;
    return true;
}

static SIGNAL_SAFE bool skip_bytes(struct bytes *bytes, uint32_t count)
{
    if (count > bytes->left)
        return false;
    bytes->at += count;
    bytes->left -= count;
    return true;
}

static SIGNAL_SAFE bool next_number(struct bytes *bytes, uint64_t *out)
{
    uint8_t byte = FOLLOWS;

    *out = 0;
    for (unsigned shift = 0; byte & FOLLOWS && shift < 35; shift += NUMBER_BITS) {
        if (!next_byte(bytes, &byte))
            return false;
        *out |= (uint64_t)(byte & ~FOLLOWS) << shift;
    }
    return true;
}

/* One bytecode, with the one before it that widens its operands. */
static SIGNAL_SAFE bool skip_bytecode(const struct v8_walk *walk, struct bytes *bytes)
{
    uint64_t kinds = walk->words[V8_BYTECODE_KINDS], scale = 0;
    uint8_t bytecode, size;

    if (!next_byte(bytes, &bytecode))
        return false;
    if (bytecode <= BYTECODE_BREAK_EXTRA_WIDE) {
        scale = bytecode == BYTECODE_WIDE || bytecode == BYTECODE_BREAK_WIDE ? 1 : 2;
        if (!next_byte(bytes, &bytecode))
            return false;
    }
    return bytecode < kinds &&
           guarded_read(&walk->scan->memory, &size,
                        walk->words[V8_BYTECODE_SIZES] + scale * kinds + bytecode, 1) &&
           size && skip_bytes(bytes, size - 1u);
}

/* The table says how long the prologue is, then the machine code of each bytecode. */
static SIGNAL_SAFE uint32_t offset_in(const struct v8_walk *walk, struct bytes *table,
                                      struct bytes *bytecodes, uint64_t pc_offset)
{
    uint64_t end, bytes, begin = bytecodes->at, here = begin;

    if (!next_number(table, &end) || pc_offset < end)
        return 0;
    for (uint32_t step = 0; step < STEPS_MAX; step++) {
        here = bytecodes->at;
        if (!next_number(table, &bytes) || !skip_bytecode(walk, bytecodes))
            break;
        end += bytes;
        if (pc_offset < end)
            return (uint32_t)(here - begin);
    }
    return FEED_NO_POSITION;
}

static SIGNAL_SAFE bool open_bytes(const struct v8_walk *walk, uint64_t array, uint64_t header,
                                   struct bytes *out)
{
    int32_t length;

    if (!v8_number(walk, array, V8_LENGTH, &length) || length < 0)
        return false;
    out->walk = walk;
    out->at = array - V8_TAG + header;
    out->left = (uint32_t)length;
    out->block_at = 0;
    out->held = 0;
    return true;
}

uint32_t v8_machine_offset(const struct v8_walk *walk, const struct v8_machine *machine,
                           uint64_t bytecode, uint64_t pc)
{
    struct bytes table, bytecodes;
    uint64_t array;

    if (!walk->words[V8_BYTECODE_SIZES] ||
        !v8_field(walk, machine->code, walk->words[V8_CODE_PLACES], &array) ||
        !v8_is(walk, array, V8_TYPE_BYTES) || !open_bytes(walk, array, V8_ARRAY_DATA, &table) ||
        !open_bytes(walk, bytecode, walk->words[V8_BYTECODE_HEADER], &bytecodes))
        return FEED_NO_POSITION;
    return offset_in(walk, &table, &bytecodes, pc - machine->start);
}

#include "lua_objects.h"

#include <string.h>

enum {
    TYPE_AT = 8, /* in what is collected, and in a value */
    C_CLOSURE_FUNCTION = 24,
    CALL_BYTES = 64,
    PROTO_BYTES = 128,
    COUNT_MAX = 1 << 24,
    LENGTH_AT = 11, /* of a short string: a byte */
    LONG_LENGTH_AT = 16,
};

struct value {
    uint64_t what;
    uint8_t type;
};

/* The function in a slot of the stack. */
static SIGNAL_SAFE bool read_function(struct runtime_scan *scan, uint64_t slot, bool is_c,
                                      uint64_t *out)
{
    struct value value;
    uint8_t closure_type;

    if (!guarded_read(&scan->memory, &value, slot, TYPE_AT + sizeof value.type))
        return false;
    *out = value.what;
    if (is_c && value.type == LUA_LIGHT_C_FUNCTION)
        return true;
    if (value.type != ((is_c ? LUA_C_CLOSURE : LUA_CLOSURE) | LUA_COLLECTABLE) ||
        !guarded_read(&scan->memory, &closure_type, *out + TYPE_AT, sizeof closure_type) ||
        closure_type != (value.type & ~LUA_COLLECTABLE))
        return false;
    return !is_c || guarded_word(&scan->memory, *out + C_CLOSURE_FUNCTION, out);
}

SIGNAL_SAFE_INLINE bool part_of(const uint8_t call[CALL_BYTES], uint64_t offset, void *out,
                                size_t bytes)
{
    if (offset > CALL_BYTES - bytes)
        return false;
    memcpy(out, call + offset, bytes);
    return true;
}

static SIGNAL_SAFE bool read_call(struct runtime_scan *scan, uint64_t at, uint8_t call[CALL_BYTES])
{
    return at && at % sizeof at == 0 && guarded_read(&scan->memory, call, at, CALL_BYTES);
}

bool lua_read_call(struct runtime_scan *scan, const uint64_t *words, uint64_t at,
                   struct lua_call *out)
{
    uint8_t call[CALL_BYTES];
    uint64_t slot;

    out->at = at;
    out->function = 0;
    if (!read_call(scan, at, call) ||
        !part_of(call, words[LUA_CALL_STATUS], &out->status, sizeof out->status) ||
        !part_of(call, words[LUA_CALL_PREVIOUS], &out->previous, sizeof out->previous) ||
        !part_of(call, words[LUA_CALL_INSTRUCTION], &out->instruction, sizeof out->instruction) ||
        !part_of(call, words[LUA_CALL_FUNCTION], &slot, sizeof slot))
        return false;
    return !out->previous || read_function(scan, slot, out->status & LUA_IS_C, &out->function);
}

bool lua_pass_call(struct runtime_scan *scan, const uint64_t *words, struct lua_call *call)
{
    uint8_t read[CALL_BYTES];

    call->at = call->previous;
    return read_call(scan, call->at, read) &&
           part_of(read, words[LUA_CALL_STATUS], &call->status, sizeof call->status) &&
           part_of(read, words[LUA_CALL_PREVIOUS], &call->previous, sizeof call->previous);
}

static SIGNAL_SAFE bool word_at(struct runtime_scan *scan, uint64_t address, uint64_t offset,
                                uint64_t *out)
{
    return guarded_word(&scan->memory, address + offset, out);
}

static SIGNAL_SAFE bool count_in(const uint8_t proto[PROTO_BYTES], uint64_t offset, int32_t *out)
{
    if (offset > PROTO_BYTES - sizeof *out)
        return false;
    memcpy(out, proto + offset, sizeof *out);
    return *out >= 0 && *out < COUNT_MAX;
}

static SIGNAL_SAFE bool word_in(const uint8_t proto[PROTO_BYTES], uint64_t offset, uint64_t *out)
{
    if (offset > PROTO_BYTES - sizeof *out)
        return false;
    memcpy(out, proto + offset, sizeof *out);
    return true;
}

/* In one read: deep stacks have thousands. */
bool lua_read_proto(struct runtime_scan *scan, const uint64_t *words, const struct lua_call *call,
                    struct lua_proto *out)
{
    uint8_t proto[PROTO_BYTES];

    return word_at(scan, call->function, words[LUA_CLOSURE_PROTO], &out->at) &&
           guarded_read(&scan->memory, proto, out->at, sizeof proto) &&
           count_in(proto, words[LUA_PROTO_CODE_COUNT], &out->code_count) &&
           count_in(proto, words[LUA_PROTO_CONSTANT_COUNT], &out->constant_count) &&
           count_in(proto, words[LUA_PROTO_UPVALUE_COUNT], &out->upvalue_count) &&
           count_in(proto, words[LUA_PROTO_LINE_COUNT], &out->line_count) &&
           count_in(proto, words[LUA_PROTO_ANCHOR_COUNT], &out->anchor_count) &&
           count_in(proto, words[LUA_PROTO_LOCAL_COUNT], &out->local_count) &&
           count_in(proto, words[LUA_PROTO_FIRST_LINE], &out->first_line) &&
           count_in(proto, words[LUA_PROTO_LAST_LINE], &out->last_line) &&
           word_in(proto, words[LUA_PROTO_CODE], &out->code) &&
           word_in(proto, words[LUA_PROTO_CONSTANTS], &out->constants) &&
           word_in(proto, words[LUA_PROTO_UPVALUES], &out->upvalues) &&
           word_in(proto, words[LUA_PROTO_LINES], &out->lines) &&
           word_in(proto, words[LUA_PROTO_ANCHORS], &out->anchors) &&
           word_in(proto, words[LUA_PROTO_LOCALS], &out->locals) &&
           word_in(proto, words[LUA_PROTO_SOURCE], &out->source);
}

bool lua_place(const struct lua_proto *proto, uint64_t instruction, uint32_t *out)
{
    const uint64_t bytes = instruction - proto->code;

    if (bytes == 0 || bytes % sizeof(uint32_t) ||
        bytes / sizeof(uint32_t) > (uint32_t)proto->code_count)
        return false;
    *out = (uint32_t)(bytes / sizeof(uint32_t)) - 1;
    return true;
}

uint32_t lua_put_string(struct runtime_scan *scan, uint64_t string, char *out, uint32_t room)
{
    uint64_t length;
    uint8_t type, short_length;

    if (!string || !guarded_read(&scan->memory, &type, string + TYPE_AT, sizeof type))
        return 0;
    if (type == LUA_SHORT_STRING) {
        if (!guarded_read(&scan->memory, &short_length, string + LENGTH_AT, sizeof short_length))
            return 0;
        length = short_length;
    } else if (type != LUA_LONG_STRING || !word_at(scan, string, LONG_LENGTH_AT, &length))
        return 0;
    if (length > room)
        length = room;
    return guarded_read(&scan->memory, out, string + LUA_TEXT_AT, length) ? (uint32_t)length : 0;
}

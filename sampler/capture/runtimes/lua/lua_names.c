#include "lua_names.h"

enum {
    LOOKED_BACK = 512, /* instructions, for what put the function there */
    LOCALS_MAX = 256,
    VALUE_BYTES = 16,
    UPVALUE_BYTES = 16, /* the name is first */
    LOCAL_BYTES = 16,   /* name, and from where to where */
};

enum opcode {
    MOVE = 0,
    GETUPVAL = 9,
    GETTABUP = 11,
    GETFIELD = 14,
    SETTABUP = 15,
    SETFIELD = 18,
    NEWTABLE = 19,
    SELF = 20,
    MMBIN = 46,
    MMBINI = 47,
    MMBINK = 48,
    UNM = 49,
    BNOT = 50,
    LEN = 52,
    CONCAT = 53,
    CLOSE = 54,
    EQ = 57,
    LT = 58,
    LE = 59,
    LTI = 62,
    GEI = 65,
    TESTSET = 67,
    CALL = 68,
    TAILCALL = 69,
    RETURN = 70,
    TFORCALL = 76,
    CLOSURE = 79,
    VARARG = 80,
};

struct local {
    uint64_t name;
    int32_t from, to; /* instructions */
};

/* As Lua numbers them. */
static const char metamethods[][12] = { "__index", "__newindex", "__gc",     "__mode", "__len",
                                        "__eq",    "__add",      "__sub",    "__mul",  "__mod",
                                        "__pow",   "__div",      "__idiv",   "__band", "__bor",
                                        "__bxor",  "__shl",      "__shr",    "__unm",  "__bnot",
                                        "__lt",    "__le",       "__concat", "__call", "__close" };

enum metamethod {
    INDEX = 0,
    NEW_INDEX = 1,
    FINALIZE = 2,
    LENGTH = 4,
    EQUAL = 5,
    NEGATE = 18,
    COMPLEMENT = 19,
    LESS = 20,
    LESS_OR_EQUAL = 21,
    CONCATENATE = 22,
    END_OF_SCOPE = 24,
    METAMETHODS = sizeof metamethods / sizeof metamethods[0],
};

static SIGNAL_SAFE uint32_t opcode_of(uint32_t instruction)
{
    return instruction & 0x7f;
}

static SIGNAL_SAFE uint32_t a_of(uint32_t instruction)
{
    return instruction >> 7 & 0xff;
}

static SIGNAL_SAFE uint32_t b_of(uint32_t instruction)
{
    return instruction >> 16 & 0xff;
}

static SIGNAL_SAFE uint32_t c_of(uint32_t instruction)
{
    return instruction >> 24;
}

static SIGNAL_SAFE uint32_t put_text(char *out, uint32_t room, const char *text)
{
    uint32_t bytes = 0;

    for (; bytes < room && text[bytes]; bytes++)
        out[bytes] = text[bytes];
    return bytes;
}

static SIGNAL_SAFE uint32_t put_metamethod(char *out, uint32_t room, uint32_t number)
{
    return number < METAMETHODS ? put_text(out, room, metamethods[number]) : 0;
}

static SIGNAL_SAFE uint32_t put_constant(struct runtime_scan *scan, const struct lua_proto *proto,
                                         uint32_t number, char *out, uint32_t room)
{
    uint64_t string;

    return number < (uint32_t)proto->constant_count &&
                   guarded_word(&scan->memory, proto->constants + number * VALUE_BYTES, &string)
               ? lua_put_string(scan, string, out, room)
               : 0;
}

static SIGNAL_SAFE uint32_t put_upvalue(struct runtime_scan *scan, const struct lua_proto *proto,
                                        uint32_t number, char *out, uint32_t room)
{
    uint64_t string;

    return number < (uint32_t)proto->upvalue_count &&
                   guarded_word(&scan->memory, proto->upvalues + number * UPVALUE_BYTES, &string)
               ? lua_put_string(scan, string, out, room)
               : 0;
}

/* The one of those that are alive at the place which the register has. */
static SIGNAL_SAFE uint32_t put_local(struct runtime_scan *scan, const struct lua_proto *proto,
                                      uint32_t number, uint32_t place, char *out, uint32_t room)
{
    struct local local;

    for (int32_t i = 0; i < proto->local_count && i < LOCALS_MAX; i++) {
        if (!guarded_read(&scan->memory, &local, proto->locals + (uint32_t)i * LOCAL_BYTES,
                          sizeof local) ||
            local.from > (int32_t)place)
            return 0;
        if ((int32_t)place < local.to && number-- == 0)
            return lua_put_string(scan, local.name, out, room);
    }
    return 0;
}

/* Whether A is a register that it writes. */
static SIGNAL_SAFE bool sets_register(uint32_t opcode)
{
    return opcode <= GETUPVAL || (opcode >= GETTABUP && opcode <= GETFIELD) ||
           (opcode >= NEWTABLE && opcode < MMBIN) || (opcode >= UNM && opcode <= CONCAT) ||
           (opcode >= TESTSET && opcode <= TAILCALL) || opcode == CLOSURE || opcode == VARARG;
}

/* What the instruction put into its register. */
static SIGNAL_SAFE uint32_t put_loaded(struct runtime_scan *scan, const struct lua_proto *proto,
                                       uint32_t instruction, uint32_t place, char *out,
                                       uint32_t room)
{
    switch (opcode_of(instruction)) {
    case MOVE:
        return put_local(scan, proto, b_of(instruction), place, out, room);
    case GETUPVAL:
        return put_upvalue(scan, proto, b_of(instruction), out, room);
    case GETTABUP:
    case GETFIELD:
    case SELF:
        return put_constant(scan, proto, c_of(instruction), out, room);
    default:
        return 0;
    }
}

/* Arguments go into registers behind the function's: the last that wrote this one has it. */
static SIGNAL_SAFE uint32_t put_callee(struct runtime_scan *scan, const struct lua_proto *proto,
                                       uint32_t place, uint32_t function, char *out, uint32_t room)
{
    uint32_t instruction;

    for (uint32_t i = 1; i <= place && i <= LOOKED_BACK; i++) {
        if (!guarded_read(&scan->memory, &instruction,
                          proto->code + (place - i) * sizeof instruction, sizeof instruction))
            return 0;
        if (a_of(instruction) == function && sets_register(opcode_of(instruction)))
            return put_loaded(scan, proto, instruction, place - i, out, room);
    }
    return 0;
}

/* Which one an instruction that calls no function has called. METAMETHODS: none. */
static SIGNAL_SAFE uint32_t metamethod_of(uint32_t instruction)
{
    const uint32_t opcode = opcode_of(instruction);

    if ((opcode >= GETTABUP && opcode <= GETFIELD) || opcode == SELF)
        return INDEX;
    if (opcode >= SETTABUP && opcode <= SETFIELD)
        return NEW_INDEX;
    if (opcode >= MMBIN && opcode <= MMBINK)
        return c_of(instruction);
    switch (opcode) {
    case UNM:
        return NEGATE;
    case BNOT:
        return COMPLEMENT;
    case LEN:
        return LENGTH;
    case CONCAT:
        return CONCATENATE;
    case EQ:
        return EQUAL;
    case LT:
        return LESS;
    case LE:
        return LESS_OR_EQUAL;
    case CLOSE:
    case RETURN:
        return END_OF_SCOPE;
    default:
        return opcode >= LTI && opcode <= GEI ? (opcode - LTI) % 2 ? LESS_OR_EQUAL : LESS
                                              : METAMETHODS;
    }
}

uint32_t lua_put_called_name(struct runtime_scan *scan, const uint64_t *words,
                             const struct lua_call *called, char *out, uint32_t room)
{
    struct lua_call caller;
    struct lua_proto proto;
    uint32_t place, instruction;

    if (called->status & LUA_IS_FINALIZER)
        return put_metamethod(out, room, FINALIZE);
    if (called->status & LUA_IS_TAIL || !lua_read_call(scan, words, called->previous, &caller) ||
        !caller.previous || caller.status & LUA_IS_C ||
        !lua_read_proto(scan, words, &caller, &proto) ||
        !lua_place(&proto, caller.instruction, &place) ||
        !guarded_read(&scan->memory, &instruction, proto.code + place * sizeof instruction,
                      sizeof instruction))
        return 0;
    switch (opcode_of(instruction)) {
    case CALL:
    case TAILCALL:
        return put_callee(scan, &proto, place, a_of(instruction), out, room);
    case TFORCALL:
        return put_text(out, room, "for iterator");
    default:
        return put_metamethod(out, room, metamethod_of(instruction));
    }
}

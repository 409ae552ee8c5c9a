#include "finder.h"

#include "../../capture/runtimes/lua/lua.h"
#include "runtime_file.h"

#include <string.h>

enum {
    VERSION_BYTES = 64,
    VERSION_544 = 504,    /* LUA_VERSION_NUM */
    EXECUTE_LEAST = 8192, /* bytes of code that luaV_execute has */
    BEGINNING = 160,      /* that is looked through for where it puts its function */
};

static const char version_begins[] = "$LuaVersion: Lua ", version_544[] = "5.4.4 ";

/* Lua 5.4.4 for 64 bits; by its headers. */
static const uint64_t layout_544[LUA_WORDS] = {
    [LUA_STATE_CALL] = 32,         [LUA_STATE_FIRST_CALL] = 96,    [LUA_CALL_FUNCTION] = 0,
    [LUA_CALL_PREVIOUS] = 16,      [LUA_CALL_INSTRUCTION] = 32,    [LUA_CALL_STATUS] = 62,
    [LUA_CLOSURE_PROTO] = 24,      [LUA_PROTO_UPVALUE_COUNT] = 16, [LUA_PROTO_CONSTANT_COUNT] = 20,
    [LUA_PROTO_CODE_COUNT] = 24,   [LUA_PROTO_LINE_COUNT] = 28,    [LUA_PROTO_LOCAL_COUNT] = 36,
    [LUA_PROTO_ANCHOR_COUNT] = 40, [LUA_PROTO_FIRST_LINE] = 44,    [LUA_PROTO_LAST_LINE] = 48,
    [LUA_PROTO_CONSTANTS] = 56,    [LUA_PROTO_CODE] = 64,          [LUA_PROTO_UPVALUES] = 80,
    [LUA_PROTO_LINES] = 88,        [LUA_PROTO_ANCHORS] = 96,       [LUA_PROTO_LOCALS] = 104,
    [LUA_PROTO_SOURCE] = 112,
};

static bool is_known(struct runtime_file *file)
{
    char version[VERSION_BYTES];

    return runtime_file_text(file, version_begins, version, sizeof version) &&
           !strncmp(version + sizeof version_begins - 1, version_544, sizeof version_544 - 1);
}

#ifdef __x86_64__

/* Code of luaV_execute, as the GNU compiler makes it. */
static const uint8_t state_to_r15[] = { 0x49, 0x89, 0xff },
                     next_from_r13[] = { 0x4c, 0x89, 0x6d, 0x20 }, /* call in rbp */
    function_to_stack[] = { 0x48, 0x89, 0x44, 0x24 },              /* then one byte: where */
    proto_of_function[] = { 0x48, 0x8b, 0x40, 0x18 };

static void put_ranges(struct feed_runtime *out, const struct runtime_piece *pieces, uint32_t count,
                       uint64_t bias, enum lua_range what)
{
    for (uint32_t i = 0; i < count && out->range_count < FEED_RUNTIME_RANGES_MAX; i++)
        out->ranges[out->range_count++] = (struct feed_runtime_range){
            .start = pieces[i].start + bias, .end = pieces[i].end + bias, .what = what
        };
}

/* Between lua_callk and luaV_execute stands what counts calls, and prepares each; none of them is exported. */
static bool find_ranges(const struct runtime_module *module, struct feed_runtime *out)
{
    enum { ROOM = FEED_RUNTIME_RANGES_MAX / 4 };
    struct runtime_piece calls[ROOM], execute[ROOM], prepare[ROOM], resume[ROOM];
    struct runtime_file *file = module->file;
    uint32_t executes = runtime_file_pieces(file, "luaV_execute", execute, ROOM),
             prepares = runtime_file_pieces(file, "luaD_precall", prepare, ROOM),
             resumes = runtime_file_pieces(file, "lua_resume", resume, ROOM);

    if (!executes && runtime_file_callee(file, "lua_callk", calls, ROOM)) {
        executes = runtime_file_callee_of(file, &calls[0], UINT64_MAX, execute, ROOM);
        prepares = runtime_file_callee_of(file, &calls[0], EXECUTE_LEAST, prepare, ROOM);
    }
    if (!executes || execute[0].end - execute[0].start < EXECUTE_LEAST)
        return false;
    put_ranges(out, execute, executes, module->bias, LUA_EXECUTES);
    put_ranges(out, prepare, prepares, module->bias, LUA_CALLS);
    put_ranges(out, resume, resumes, module->bias, LUA_RESUMES);
    return true;
}

/* Where it keeps what it runs. False: elsewhere. */
static bool read_code(const struct runtime_module *module, struct feed_runtime *out)
{
    const uint64_t vaddr = out->ranges[0].start - module->bias;
    uint8_t code[EXECUTE_LEAST], *function;

    if (!runtime_file_bytes(module->file, vaddr, code, sizeof code) ||
        !memmem(code, BEGINNING, state_to_r15, sizeof state_to_r15) ||
        !memmem(code, sizeof code, next_from_r13, sizeof next_from_r13))
        return false;
    function = memmem(code, BEGINNING, proto_of_function, sizeof proto_of_function);
    if (!function || function < code + sizeof function_to_stack + 1 ||
        memcmp(function - sizeof function_to_stack - 1, function_to_stack,
               sizeof function_to_stack) != 0)
        return false;
    out->words[LUA_FUNCTION_SLOT] = function[-1];
    out->words[LUA_ENTERED] = out->ranges[0].start + (uint64_t)(function - code);
    return true;
}
#endif

enum runtime_found lua_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason)
{
    uint64_t vaddr;

    if (!runtime_file_symbol(module->file, "lua_callk", &vaddr, NULL))
        return RUNTIME_NOT_HERE;
    *reason = "its layout is not known to this isoscope (5.4.4 is)";
    if (!is_known(module->file))
        return RUNTIME_UNKNOWN;
    out->version = VERSION_544;
    memcpy(out->words, layout_544, sizeof layout_544);
#ifdef __x86_64__
    *reason = "its interpreter's code is not found, or is compiled in another way than Debian's";
    return find_ranges(module, out) && read_code(module, out) ? RUNTIME_FOUND : RUNTIME_UNKNOWN;
#else
    *reason = "its frames are known on x86-64 only";
    return RUNTIME_UNKNOWN;
#endif
}

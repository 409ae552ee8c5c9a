#include "sampler/profile/runtimes/finder.h"

#include "sampler/profile/runtimes/runtime_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A file as finders see it: symbols of data, whose addresses are those of their words here. */
struct symbol {
    const char *name; /* NULL: there are no more */
    uint64_t words[4];
};

struct runtime_file {
    const struct symbol *symbols;
    const char *text;          /* its constants have it; NULL: they have none */
    bool is_node_without_code; /* all of V8's constants are there */
};

/* V8's constants that are not 5. */
static const struct symbol node_constants[] = {
    { "v8dbg_TaggedSize", { 8 } },
    { "v8dbg_SmiShiftSize", { 31 } },
    { "v8dbg_HeapObjectTag", { 1 } },
    { "v8dbg_class_Map__instance_type__uint16_t", { 12 } },
    { "v8dbg_class_String__length__int32_t", { 12 } },
    { "v8dbg_class_ConsString__second__String", { 24 } },
    { "v8dbg_class_ThinString__actual__String", { 16 } },
    { "v8dbg_class_SlicedString__offset__SMI", { 24 } },
    { "v8dbg_class_ExternalString__resource__Object", { 16 } },
    { "v8dbg_OneByteStringTag", { 8 } },
    { "v8dbg_StringRepresentationMask", { 7 } },
    { "v8dbg_off_fp_context", { (uint32_t)-8 } },
    { "v8dbg_off_fp_function", { (uint32_t)-16 } },
    { "v8dbg_off_fp_bytecode_array", { (uint32_t)-32 } },
    { "v8dbg_off_fp_bytecode_offset", { (uint32_t)-40 } },
    { "v8dbg_FirstNonstringType", { 128 } },
    { NULL, { 0 } },
};
static const struct symbol other_constant = { "v8dbg_", { 5 } };

static const struct symbol *find(const struct symbol *symbols, const char *name)
{
    for (; symbols && symbols->name; symbols++)
        if (!strcmp(symbols->name, name))
            return symbols;
    return NULL;
}

bool runtime_file_symbol(struct runtime_file *file, const char *name, uint64_t *vaddr,
                         uint64_t *size)
{
    const struct symbol *symbol = find(file->symbols, name);

    if (!symbol && file->is_node_without_code && !strncmp(name, "v8dbg_", 6)) {
        symbol = find(node_constants, name);
        if (!symbol)
            symbol = &other_constant;
    }
    if (!symbol)
        return false;
    *vaddr = (uint64_t)symbol->words;
    if (size)
        *size = sizeof(symbol->words);
    return true;
}

bool runtime_file_bytes(struct runtime_file *file, uint64_t vaddr, void *out, uint64_t bytes)
{
    (void)file;
    memset(out, 0, bytes);
    memcpy(out, (const void *)vaddr,
           bytes < sizeof(other_constant.words) ? bytes : sizeof(other_constant.words));
    return true;
}

bool runtime_file_text(struct runtime_file *file, const char *beginning, char *out, size_t bytes)
{
    if (!file->text || strncmp(file->text, beginning, strlen(beginning)) != 0)
        return false;
    assert_true(strlen(file->text) < bytes);
    strcpy(out, file->text);
    return true;
}

/* None of its functions is to be found. */
uint32_t runtime_file_pieces(struct runtime_file *file, const char *name, struct runtime_piece *out,
                             uint32_t room)
{
    (void)file, (void)name, (void)out, (void)room;
    return 0;
}

uint32_t runtime_file_callee(struct runtime_file *file, const char *name, struct runtime_piece *out,
                             uint32_t room)
{
    return runtime_file_pieces(file, name, out, room);
}

uint32_t runtime_file_callee_of(struct runtime_file *file, const struct runtime_piece *caller,
                                uint64_t below, struct runtime_piece *out, uint32_t room)
{
    (void)caller, (void)below;
    return runtime_file_pieces(file, "", out, room);
}

bool runtime_file_gap(struct runtime_file *file, struct runtime_piece *out)
{
    (void)file, (void)out;
    return false;
}

bool runtime_file_exports(struct runtime_file *file, const char *name)
{
    return find(file->symbols, name) != NULL;
}

static void expect(runtime_find ask, struct runtime_file file, const char *expected)
{
    const struct runtime_module module = { .path = "/usr/bin/runtime", .file = &file };
    struct feed_runtime found = { 0 };
    const char *reason = NULL;

    assert_int_equal(ask(&module, &found, &reason), RUNTIME_UNKNOWN);
    assert_string_equal(reason, expected);
}

#ifdef __x86_64__
#define LUA_WITHOUT_CODE                                                                           \
    "its interpreter's code is not found, or is compiled in another way than Debian's"
#else
#define LUA_WITHOUT_CODE "its frames are known on x86-64 only"
#endif

/* The first words of _PyRuntime, from 3.13 on. */
#define DEBUG_MARK UINT64_C(0x7970677562656478) /* "xdebugpy" */

#define PYTHON(version)                                                                            \
    { "_PyRuntime", { DEBUG_MARK, 0x030c00f0 } }, { "_PyEval_EvalFrameDefault", { 0 } },           \
    {                                                                                              \
        "Py_Version",                                                                              \
        {                                                                                          \
            version                                                                                \
        }                                                                                          \
    }

static void a_python_that_cannot_be_read_says_why(void **state)
{
    static const struct symbol without_type[] = { PYTHON(0x030b02f0), { NULL, { 0 } } };
    static const struct symbol old[] = { { "_PyRuntime", { 0 } },
                                         { "_PyEval_EvalFrameDefault", { 0 } },
                                         { "PyCode_Type", { 0 } },
                                         { NULL, { 0 } } };
    static const struct symbol newest[] = { PYTHON(0x030f00a1),
                                            { "PyCode_Type", { 0 } },
                                            { NULL, { 0 } } };
    static const struct symbol stripped[] = { { "_PyRuntime", { 0 } },
                                              { "_PyEval_EvalFrameDefault", { 0 } },
                                              { "Py_Version", { 0x030d00f0 } },
                                              { "PyCode_Type", { 0 } },
                                              { NULL, { 0 } } };
    static const struct symbol odd[] = { PYTHON(0x030d00f0),
                                         { "PyCode_Type", { 0 } },
                                         { NULL, { 0 } } };
    static const struct symbol bare[] = { PYTHON(0x030b02f0),
                                          { "PyCode_Type", { 0 } },
                                          { NULL, { 0 } } };

    (void)state;
    expect(cpython_find, (struct runtime_file){ without_type, NULL, false },
           "its PyCode_Type is not exported");
    expect(cpython_find, (struct runtime_file){ old, NULL, false }, "older than 3.9");
    expect(cpython_find, (struct runtime_file){ newest, NULL, false }, "newer than 3.14");
    expect(cpython_find, (struct runtime_file){ stripped, NULL, false },
           "its debug offsets cannot be read");
    expect(cpython_find, (struct runtime_file){ odd, NULL, false },
           "its debug offsets are of another form");
    expect(cpython_find, (struct runtime_file){ bare, NULL, false },
           "its eval function's code is not found");
}

static void a_perl_that_cannot_be_read_says_why(void **state)
{
    static const struct symbol unthreaded[] = { { "PL_curinterp", { 0 } }, { NULL, { 0 } } };
    static const struct symbol usual[] = { { "PL_curinterp", { 0 } },
                                           { "PL_thr_key", { 0 } },
                                           { NULL, { 0 } } };

    (void)state;
    expect(perl_find, (struct runtime_file){ usual, "v5.38.2", false },
           "its layout is not known to this isoscope (5.36 is)");
    expect(perl_find, (struct runtime_file){ unthreaded, "v5.36.0", false },
           "it is built without threads");
    expect(perl_find, (struct runtime_file){ usual, "v5.36.0", false },
           "its run loop's code is not found");
}

static void a_php_that_cannot_be_read_says_why(void **state)
{
    static const struct symbol usual[] = { { "execute_ex", { 0 } },
                                           { "executor_globals", { 0 } },
                                           { NULL, { 0 } } };

    (void)state;
    expect(php_find, (struct runtime_file){ usual, NULL, false },
           "what it was built for cannot be told");
    expect(php_find, (struct runtime_file){ usual, "API20220829,TS", false },
           "its layout is not known to this isoscope (8.2 without thread safety is)");
    expect(php_find, (struct runtime_file){ usual, "API20220829,NTS", false },
           "its executor's code is not found");
}

static void a_lua_that_cannot_be_read_says_why(void **state)
{
    static const struct symbol usual[] = { { "lua_callk", { 0 } }, { NULL, { 0 } } };

    (void)state;
    expect(lua_find, (struct runtime_file){ usual, NULL, false },
           "its layout is not known to this isoscope (5.4.4 is)");
    expect(lua_find, (struct runtime_file){ usual, "$LuaVersion: Lua 5.4.7  Copyright", false },
           "its layout is not known to this isoscope (5.4.4 is)");
    expect(lua_find, (struct runtime_file){ usual, "$LuaVersion: Lua 5.4.4  Copyright", false },
           LUA_WITHOUT_CODE);
}

#define NUMBERS(first, second) ((uint64_t)(second) << 32 | (first))

static void a_ruby_that_cannot_be_read_says_why(void **state)
{
    static const struct symbol old[] = { { "ruby_current_vm_ptr", { 0 } },
                                         { "ruby_api_version", { NUMBERS(2, 7) } },
                                         { NULL, { 0 } } };
    static const struct symbol usual[] = { { "ruby_current_vm_ptr", { 0 } },
                                           { "ruby_api_version", { NUMBERS(3, 1) } },
                                           { NULL, { 0 } } };

    (void)state;
    expect(ruby_find, (struct runtime_file){ old, NULL, false },
           "its layout is not known to this isoscope (3.1 is)");
    expect(ruby_find, (struct runtime_file){ usual, NULL, false },
           "its interpreter's code is not found");
}

#define V8_OF(major, minor)                                                                        \
    { "_ZN2v88internal7Version6major_E", { major } },                                              \
    {                                                                                              \
        "_ZN2v88internal7Version6minor_E",                                                         \
        {                                                                                          \
            minor                                                                                  \
        }                                                                                          \
    }

static void a_node_that_cannot_be_read_says_why(void **state)
{
    static const struct symbol old[] = { V8_OF(9, 4), { NULL, { 0 } } };
    static const struct symbol usual[] = { V8_OF(10, 2), { NULL, { 0 } } };

    (void)state;
    expect(v8_find, (struct runtime_file){ old, NULL, false },
           "not one of the versions in node 18, 20, 22 and 24");
    expect(v8_find, (struct runtime_file){ usual, NULL, false },
           "it does not tell its layout, or has another one");
    expect(v8_find, (struct runtime_file){ usual, NULL, true }, "its built-in code is not found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_python_that_cannot_be_read_says_why),
        cmocka_unit_test(a_lua_that_cannot_be_read_says_why),
        cmocka_unit_test(a_perl_that_cannot_be_read_says_why),
        cmocka_unit_test(a_php_that_cannot_be_read_says_why),
        cmocka_unit_test(a_ruby_that_cannot_be_read_says_why),
        cmocka_unit_test(a_node_that_cannot_be_read_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

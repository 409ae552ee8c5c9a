/* The memory of a Lua 5.4 that is not there: what its native frames stand for. */
#ifdef __x86_64__

#include "fake_feed.h"

#include "sampler/capture/runtimes/lua/lua_objects.h"
#include "sampler/feed/feed_codes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
    CODE = 0x1000,
    CODE_BYTES = 0x1000,
    RESUME = 0x3000,
    PREPARE = 0x4000,
    SLOT = 8,
    TID = 77,
    ROOM = 32,
    CALL_OF = 0x44, /* opcodes */
    GETTABUP_OF = 0x0b,
};

/* Lua's structures, as lua_finder.c has their offsets. */
struct value {
    uint64_t word;
    uint8_t type;
};
struct text {
    uint64_t next;
    uint8_t type, mark, extra, length;
    uint32_t hash;
    uint64_t long_length;
    char bytes[40];
};
struct call {
    struct value *function;
    uint64_t top;
    struct call *previous;
    uint64_t next;
    const uint32_t *instruction;
    uint64_t rest[2];
    uint16_t pad[3], status;
};
struct proto {
    uint64_t next;
    uint8_t type, rest[7];
    int32_t upvalues, constants, code_count, line_count, protos, locals, anchors, first, last;
    struct value *constant;
    const uint32_t *code;
    uint64_t p;
    struct text **upvalue;
    const int8_t *lines;
    uint64_t anchor, local;
    struct text *source;
    uint64_t gray;
};
struct closure {
    uint64_t next;
    uint8_t type;
    uint64_t gray;
    const struct proto *proto;
};
struct state {
    uint64_t next;
    uint8_t type;
    uint64_t top, global;
    struct call *call;
    uint64_t rest[7];
    struct call first;
};
static_assert(offsetof(struct call, status) == 62 && offsetof(struct proto, source) == 112 &&
                  offsetof(struct state, first) == 96,
              "layout");

static const uint64_t layout[LUA_WORDS] = {
    [LUA_FUNCTION_SLOT] = SLOT,
    [LUA_ENTERED] = CODE + 0x40,
    [LUA_STATE_CALL] = offsetof(struct state, call),
    [LUA_STATE_FIRST_CALL] = offsetof(struct state, first),
    [LUA_CALL_PREVIOUS] = offsetof(struct call, previous),
    [LUA_CALL_INSTRUCTION] = offsetof(struct call, instruction),
    [LUA_CALL_STATUS] = offsetof(struct call, status),
    [LUA_CLOSURE_PROTO] = offsetof(struct closure, proto),
    [LUA_PROTO_UPVALUE_COUNT] = offsetof(struct proto, upvalues),
    [LUA_PROTO_CONSTANT_COUNT] = offsetof(struct proto, constants),
    [LUA_PROTO_CODE_COUNT] = offsetof(struct proto, code_count),
    [LUA_PROTO_LINE_COUNT] = offsetof(struct proto, line_count),
    [LUA_PROTO_LOCAL_COUNT] = offsetof(struct proto, locals),
    [LUA_PROTO_ANCHOR_COUNT] = offsetof(struct proto, anchors),
    [LUA_PROTO_FIRST_LINE] = offsetof(struct proto, first),
    [LUA_PROTO_LAST_LINE] = offsetof(struct proto, last),
    [LUA_PROTO_CONSTANTS] = offsetof(struct proto, constant),
    [LUA_PROTO_CODE] = offsetof(struct proto, code),
    [LUA_PROTO_UPVALUES] = offsetof(struct proto, upvalue),
    [LUA_PROTO_LINES] = offsetof(struct proto, lines),
    [LUA_PROTO_ANCHORS] = offsetof(struct proto, anchor),
    [LUA_PROTO_LOCALS] = offsetof(struct proto, local),
    [LUA_PROTO_SOURCE] = offsetof(struct proto, source),
};

static struct text source = { .type = LUA_SHORT_STRING, .length = 6, .bytes = "@a.lua" },
                   area = { .type = LUA_SHORT_STRING, .length = 4, .bytes = "area" },
                   sort = { .type = LUA_SHORT_STRING, .length = 4, .bytes = "sort" };
static struct value constants[] = { { 0, LUA_SHORT_STRING | LUA_COLLECTABLE },
                                    { 0, LUA_SHORT_STRING | LUA_COLLECTABLE } };
/* area(); sort(): each into register 0, and called. */
static const uint32_t code[] = { GETTABUP_OF, CALL_OF, GETTABUP_OF | 1u << 24, CALL_OF };
static const int8_t lines[] = { 1, 0, 2, 0 };

static struct proto main_proto = { .constants = 2,
                                   .code_count = 4,
                                   .line_count = 4,
                                   .constant = constants,
                                   .code = code,
                                   .lines = lines,
                                   .source = &source },
                    area_proto;
static struct closure main_closure = { .type = LUA_CLOSURE, .proto = &main_proto },
                      area_closure = { .type = LUA_CLOSURE, .proto = &area_proto };
static struct value main_value, area_value, sort_value = { 0x5000, LUA_LIGHT_C_FUNCTION };
static struct state state = { .type = LUA_THREAD };
static struct call main_call, area_call, sort_call;
static uint64_t native_stack[4];

static struct fake_feed feed;
static struct feed_reader *reader;
static struct runtime_scan scan;
static struct runtime_texts texts;
static struct code_cache cache;
static uint64_t frames[ROOM];

/* The main chunk has called what runs at that instruction. */
static void prepare(const uint32_t *instruction)
{
    constants[0].word = (uint64_t)&area;
    constants[1].word = (uint64_t)&sort;
    area_proto = main_proto;
    area_proto.first = 10;
    area_proto.last = 13;
    main_value = (struct value){ (uint64_t)&main_closure, LUA_CLOSURE | LUA_COLLECTABLE };
    area_value = (struct value){ (uint64_t)&area_closure, LUA_CLOSURE | LUA_COLLECTABLE };
    main_call = (struct call){ .function = &main_value,
                               .previous = &state.first,
                               .instruction = instruction,
                               .status = LUA_IS_FRESH };
    area_call = (struct call){ .function = &area_value, .instruction = code + 1 };
    sort_call = (struct call){ .function = &sort_value, .status = LUA_IS_C };
    state.call = &main_call;
}

static void call(struct call *called, struct call *caller)
{
    called->previous = caller;
    state.call = called;
}

static int open_feed(void **unused)
{
    struct feed_runtime runtime = {
        .kind = FEED_RUNTIME_LUA,
        .range_count = 3,
        .ranges = { { .start = CODE, .end = CODE + CODE_BYTES, .what = LUA_EXECUTES },
                    { .start = RESUME, .end = RESUME + 0x100, .what = LUA_RESUMES },
                    { .start = PREPARE, .end = PREPARE + 0x100, .what = LUA_CALLS } }
    };

    (void)unused;
    memcpy(runtime.words, layout, sizeof layout);
    fake_feed_open(&feed, getpid());
    return feed_reader_open(&reader, fake_feed_memfd(&feed)) < 0 ||
           !feed_reader_runtime(reader, &runtime);
}

static int close_feed(void **unused)
{
    (void)unused;
    feed_reader_free(reader);
    fake_feed_close(&feed);
    return 0;
}

static void begin(void)
{
    scan = (struct runtime_scan){ .writer = &feed.writer,
                                  .cache = &cache,
                                  .texts = &texts,
                                  .tid = TID,
                                  .wants = FEED_WANT_RUNTIMES };
    guarded_memory_begin(&scan.memory, NULL, false);
    runtime_scan_begin(&scan);
    scan.frames = frames;
    scan.room = ROOM;
}

/* "area:11 main chunk:1", innermost first. */
static const char *told(const struct runtime_native *native)
{
    static uint8_t buffer[FEED_CODE_BYTES_MAX];
    static char names[512];
    uint32_t count = runtime_scan_frames(&scan, native), used = 0;
    struct feed_code_text text;

    names[0] = '\0';
    for (uint32_t i = 0; i < count && i < ROOM && used < 400; i++) {
        const uint32_t line = FEED_FRAME_CODE_POSITION(frames[i]);

        if (!feed_reader_code(reader, FEED_FRAME_CODE_ID(frames[i]), buffer, &text))
            return "no such code";
        used += (uint32_t)snprintf(&names[used], sizeof names - used, "%s%.*s:%d", i ? " " : "",
                                   (int)text.name_bytes, text.name,
                                   line == FEED_NO_POSITION ? 0 : (int)line);
    }
    return names;
}

/* A caller's frame of luaV_execute. */
static const char *executes(const struct call *runs, const struct closure *holds)
{
    native_stack[SLOT / 8] = (uint64_t)holds;
    return told(&(struct runtime_native){
        .pc = CODE + 0x100, .sp = (uint64_t)native_stack, .fp = (uint64_t)runs, .fp_known = true });
}

static void a_native_frame_stands_for_all_that_it_runs(void **unused)
{
    (void)unused;
    for (uint32_t again = 0; again < 2; again++) { /* the second time out of the cache */
        prepare(code + 2);
        call(&area_call, &main_call);
        begin();
        assert_string_equal(executes(&area_call, &area_closure), "area:11 main chunk:1");
    }
}

/* Of what finds no room, the outermost are told, and the others counted. */
static void a_deep_recursion_is_told_by_its_two_ends(void **unused)
{
    enum { DEEP = 100, FEW = 4 };
    static struct call calls[DEEP];
    struct runtime_native native = { .pc = CODE + 0x100,
                                     .sp = (uint64_t)native_stack,
                                     .fp_known = true };
    uint32_t line_of_area = 11, line_of_main = 1;

    (void)unused;
    prepare(code + 2);
    for (uint32_t i = 0; i < DEEP; i++) {
        calls[i] = area_call;
        call(&calls[i], i ? &calls[i - 1] : &main_call);
    }
    native_stack[SLOT / 8] = (uint64_t)&area_closure;
    native.fp = (uint64_t)&calls[DEEP - 1];
    begin();
    scan.room = FEW;
    assert_int_equal(runtime_scan_frames(&scan, &native), DEEP + 1);
    for (uint32_t i = 0; i < FEW; i++)
        assert_int_equal(FEED_FRAME_CODE_POSITION(frames[i]), line_of_area);
    assert_int_equal(FEED_FRAME_CODE_POSITION(scan.spill[DEEP % RUNTIME_SPILL]), line_of_main);
    for (uint32_t i = DEEP + 1 - RUNTIME_SPILL; i < DEEP; i++) {
        assert_int_equal(FEED_FRAME_CODE_POSITION(scan.spill[i % RUNTIME_SPILL]), line_of_area);
        assert_int_equal(FEED_FRAME_CODE_ID(scan.spill[i % RUNTIME_SPILL]),
                         FEED_FRAME_CODE_ID(frames[0]));
    }
}

static void a_c_function_stands_above_its_caller(void **unused)
{
    (void)unused;
    prepare(code + 4);
    call(&sort_call, &main_call);
    begin();
    assert_string_equal(executes(&main_call, &main_closure), "sort:0 main chunk:3");
}

/* It is the leaf: the function is not called yet, and its CallInfo may be an old one. */
static void a_c_function_that_is_prepared_is_not_shown(void **unused)
{
    ucontext_t context = { 0 };

    (void)unused;
    prepare(code + 4);
    call(&sort_call, &main_call);
    begin();
    assert_string_equal(told(&(struct runtime_native){ .pc = PREPARE, .context = &context }), "");
    assert_string_equal(executes(&main_call, &main_closure), "main chunk:3");
}

/* sort called area: two native frames, with C's between them. */
static void what_c_calls_has_a_native_frame_of_its_own(void **unused)
{
    (void)unused;
    prepare(code + 4);
    call(&sort_call, &main_call);
    call(&area_call, &sort_call);
    area_call.status = LUA_IS_FRESH;
    begin();
    assert_string_equal(executes(&area_call, &area_closure), "area:11");
    assert_string_equal(executes(&main_call, &main_closure), "sort:0 main chunk:3");
}

/* It was resumed: main's frames are gone from the native stack. */
static void what_waits_in_a_coroutine_stands_where_it_was_resumed(void **unused)
{
    (void)unused;
    prepare(code + 4);
    call(&sort_call, &main_call);
    call(&area_call, &sort_call);
    area_call.status = LUA_IS_FRESH;
    begin();
    assert_string_equal(executes(&area_call, &area_closure), "area:11");
    assert_string_equal(told(&(struct runtime_native){ .pc = RESUME }), "sort:0 main chunk:3");
    assert_string_equal(told(&(struct runtime_native){ .pc = RESUME }), "");
}

static void the_leaf_is_told_by_its_registers(void **unused)
{
    ucontext_t context = { 0 };
    struct runtime_native leaf = { .pc = CODE + 0x100,
                                   .sp = (uint64_t)native_stack,
                                   .context = &context };

    (void)unused;
    prepare(code + 2);
    native_stack[SLOT / 8] = (uint64_t)&main_closure;
    context.uc_mcontext.gregs[REG_R15] = (greg_t)&state;
    context.uc_mcontext.gregs[REG_R13] = (greg_t)(code + 3);
    begin();
    runtime_scan_interrupted(&scan, &context);
    assert_string_equal(told(&leaf), "main chunk:3");
}

static void what_does_not_fit_together_is_not_believed(void **unused)
{
    static const struct call nonsense = { .function = (struct value *)0x4141414141414141,
                                          .previous = (struct call *)1 };

    (void)unused;
    prepare(code + 2);
    begin();
    assert_string_equal(executes(&main_call, &area_closure), ""); /* another function's frame */
    assert_string_equal(executes(&nonsense, &main_closure), "");
    assert_string_equal(executes((const struct call *)8, &main_closure), "");
    main_value.type = LUA_LIGHT_C_FUNCTION;
    assert_string_equal(executes(&main_call, &main_closure), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_native_frame_stands_for_all_that_it_runs),
        cmocka_unit_test(a_deep_recursion_is_told_by_its_two_ends),
        cmocka_unit_test(a_c_function_stands_above_its_caller),
        cmocka_unit_test(a_c_function_that_is_prepared_is_not_shown),
        cmocka_unit_test(what_c_calls_has_a_native_frame_of_its_own),
        cmocka_unit_test(what_waits_in_a_coroutine_stands_where_it_was_resumed),
        cmocka_unit_test(the_leaf_is_told_by_its_registers),
        cmocka_unit_test(what_does_not_fit_together_is_not_believed),
    };

    return cmocka_run_group_tests(tests, open_feed, close_feed);
}

#else

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void frames_are_known_on_x86_64_only(void **unused)
{
    (void)unused;
    print_message("Lua's frames are known on x86-64 only\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(frames_are_known_on_x86_64_only) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

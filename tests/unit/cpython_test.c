#include "fake_cpython.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { POINTER = 0x7f0000001000 };

/* clang-format off */
/* What stands at _PyRuntime of 3.13.0 (the first line as its file has it; the second as its headers give it
 * for a free-threaded build). */
static const uint64_t debug_313[2][CPYTHON_DEBUG_OFFSETS] = { { 0x7970677562656478, 0x30d00f0, 0, 283320, 608, 632, 194968, 7272, 7264, 7344, 7400, 7656,
      7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56,
      72, 70, 208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16,
      40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200 },
                                                              { 0x7970677562656478, 0x30d00f0, 1, 328256, 608, 632, 215616, 7272, 7264, 7344, 7400, 7664,
      7648, 7656, 16, 7760, 0, 7784, 7776, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56,
      72, 70, 224, 128, 136, 144, 152, 84, 68, 112, 120, 216, 32, 24, 432, 40, 104, 184, 48, 40,
      32, 56, 40, 32, 64, 48, 56, 40, 32, 48, 32, 40, 56, 32, 48, 80, 48, 32, 56, 248, 200 } };

/* The first line as the file of Debian's 3.14.10 has it; the second in that order, with values like 3.13's. */
static const uint64_t debug_314[2][CPYTHON_DEBUG_OFFSETS] = { { 0x7970677562656478, 0x30e0af0, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408,
      7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32,
      88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8,
      416, 24, 88, 168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16,
      24, 40, 16, 32, 64, 32, 16, 40, 264, 192 },
                                                              { 0x7970677562656478, 0x30e00f0, 1, 328256, 608, 632, 215616, 7272, 7264, 7344, 7352, 7400,
      7656, 7640, 7648, 16, 7752, 0, 7784, 7776, 7800, 7808, 304, 0, 8, 16, 72, 152, 160, 232,
      32, 88, 8, 0, 56, 80, 78, 64, 72, 232, 128, 136, 144, 152, 84, 68, 112, 120, 216, 160, 32,
      24, 432, 40, 104, 184, 48, 40, 32, 56, 40, 32, 216, 40, 56, 48, 64, 48, 56, 40, 32, 48, 32,
      40, 56, 32, 48, 80, 48, 32, 56 } };

/* clang-format on */

static const struct version {
    uint32_t hex;
    const uint64_t *debug;
} versions[] = { { 0x030912f0, NULL },         { 0x030a0df0, NULL },
                 { 0x030b02f0, NULL },         { 0x030c01f0, NULL },
                 { 0x030d00f0, debug_313[0] }, { 0x030d00f0, debug_313[1] },
                 { 0x030e0af0, debug_314[0] }, { 0x030e00f0, debug_314[1] } };

enum {
    VERSIONS = sizeof(versions) / sizeof(versions[0]),
    IN_39 = 0,
    IN_310,
    IN_311,
    IN_312,
    IN_314_FREE = VERSIONS - 1
};

/* A new one of each version, in turn. */
#define FOR_EACH_VERSION(python, first)                                                            \
    for (uint32_t version = first; version < VERSIONS; version++)                                  \
        for (bool once =                                                                           \
                 (fake_cpython_open(python, versions[version].hex, versions[version].debug),       \
                  true);                                                                           \
             once; once = false, fake_cpython_close(python))

static struct fake_cpython python;

/* In the outer native frame <module>; in the inner one g, which calls f where calls make no native frame. */
static uint64_t two_native_frames(uint64_t interpreter)
{
    uint64_t state = fake_state(&python, interpreter, POINTER, FAKE_TID);

    fake_enter(&python, state, NATIVE(&python, 4));
    fake_call(&python, state, fake_code(&python, "<module>", "/a.py", 1), 2, true);
    fake_enter(&python, state, NATIVE(&python, 2));
    fake_call(&python, state, fake_code(&python, "g", "/a.py", 5), 8, true);
    if (fake_word(&python, CPYTHON_CHAIN) >= CPYTHON_CHAIN_ENTRIES)
        fake_call(&python, state, fake_code(&python, "C.f", "/b.py", 9), 4, false);
    return state;
}

static const char *inner_frames(void)
{
    return fake_word(&python, CPYTHON_CHAIN) >= CPYTHON_CHAIN_ENTRIES ? "C.f:4 g:8" : "g:8";
}

static void each_native_frame_stands_for_those_that_it_was_entered_for(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        two_native_frames(fake_interpreter(&python));
        for (uint32_t again = 0; again < 2; again++) { /* the second time out of the cache */
            fake_begin(&python, POINTER);
            assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), inner_frames());
            assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "<module>:2");
            assert_string_equal(fake_frames(&python, NATIVE(&python, 6)), "");
        }
    }
}

/* From 3.10 on. */
static void a_native_frame_that_was_not_seen_does_not_shift_the_others(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_310)
    {
        two_native_frames(fake_interpreter(&python));
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "<module>:2");
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 1)), "");
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), inner_frames());
    }
}

/* The eval function has stored its _PyCFrame, and not yet what is in it. */
static void what_a_new_record_holds_by_chance_is_not_believed(void **unused)
{
    const uint64_t garbage[] = { 0, 1, 0x4141414141414141, UINT64_MAX };

    (void)unused;
    for (uint32_t i = 0; i < 4; i++)
        FOR_EACH_VERSION(&python, IN_311)
        {
            uint64_t state = two_native_frames(fake_interpreter(&python));

            if (version > IN_312)
                continue;
            fake_enter(&python, state, NATIVE(&python, 1));
            fake_put(&python, fake_get(state + fake_word(&python, CPYTHON_THREAD_CFRAME)),
                     CPYTHON_CFRAME_FRAME, garbage[i], 8);
            fake_begin(&python, POINTER);
            assert_string_equal(fake_frames(&python, NATIVE(&python, 1)), "");
            assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), inner_frames());
            assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "<module>:2");
        }
}

/* 3.10, on the way out: the CFrame is gone, and the frame is not yet. */
static void a_frame_that_ends_is_its_native_frames_until_it_is_gone(void **unused)
{
    const int8_t ended[] = { -1, 1, 3 }, runs[] = { 0, 2 };
    uint64_t state, frame, record;

    (void)unused;
    fake_cpython_open(&python, versions[IN_310].hex, NULL);
    state = two_native_frames(fake_interpreter(&python));
    frame = fake_get(state + fake_word(&python, CPYTHON_THREAD_FRAME));
    record = fake_get(state + fake_word(&python, CPYTHON_THREAD_CFRAME));
    for (uint32_t i = 0; i < sizeof(runs); i++) { /* what it has called has no CFrame yet */
        fake_put(&python, frame, CPYTHON_FRAME_STATE, (uint64_t)runs[i], 1);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_leaf_frames(&python, NATIVE(&python, 1)), "");
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "g:8");
    }
    fake_put(&python, state, CPYTHON_THREAD_CFRAME,
             fake_get(record + fake_word(&python, CPYTHON_CFRAME_PREVIOUS)), 8);
    for (uint32_t i = 0; i < sizeof(ended); i++) {
        fake_put(&python, frame, CPYTHON_FRAME_STATE, (uint64_t)ended[i], 1);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_leaf_frames(&python, NATIVE(&python, 2)), "g:8");
        assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "<module>:2");
        assert_string_equal(fake_frames(&python, NATIVE(&python, 6)), "");
    }
    fake_cpython_close(&python);
}

static void a_frame_whose_code_was_freed_is_left_out(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_311)
    {
        uint64_t state = two_native_frames(fake_interpreter(&python));
        uint64_t code = fake_code(&python, "gone", "/a.py", 3);

        fake_call(&python, state, code, 4, false);
        fake_put(&python, code, CPYTHON_OBJECT_TYPE, 0, 8);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "C.f:4 g:8");
    }
}

/* An address that a new code has taken over has that one's name. */
static void another_code_at_the_same_address_is_another(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        uint64_t state = fake_state(&python, fake_interpreter(&python), POINTER, FAKE_TID),
                 code = fake_code(&python, "old", "/a.py", 3);

        fake_enter(&python, state, NATIVE(&python, 2));
        fake_call(&python, state, code, 4, true);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "old:4");
        fake_put(&python, code, CPYTHON_CODE_NAME, fake_string(&python, "new", 3, 1, true), 8);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "new:4");
    }
}

static void names_are_utf_8_whatever_their_characters_take(void **unused)
{
    static const uint16_t wide[] = { 0x3c0, 0x4e2d, 0xd800 };
    static const uint32_t wider[] = { 0x1f40d };

    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        const uint64_t names[] = { fake_string(&python, "caf\xe9", 4, 1, false),
                                   fake_string(&python, wide, 3, 2, false),
                                   fake_string(&python, wider, 1, 4, false) };
        const char *const expected[] = { "café:4", "π中\xef\xbf\xbd:4", "🐍:4" };
        uint64_t state = fake_state(&python, fake_interpreter(&python), POINTER, FAKE_TID);

        for (uint32_t i = 0; i < 3; i++) {
            fake_enter(&python, state, NATIVE(&python, 8 - i));
            fake_call(&python, state, fake_code_named(&python, names[i], "/a.py", 3), 4, true);
            fake_begin(&python, POINTER);
            assert_string_equal(fake_frames(&python, NATIVE(&python, 8 - i)), expected[i]);
        }
    }
}

static void a_frame_that_has_not_begun_has_no_position(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        uint64_t state = two_native_frames(fake_interpreter(&python)), frame;

        fake_enter(&python, state, NATIVE(&python, 1));
        frame = fake_call(&python, state, fake_code(&python, "new", "/a.py", 3), 0, true);
        fake_put(&python, frame, CPYTHON_FRAME_POSITION,
                 fake_word(&python, CPYTHON_POSITION_UNIT)
                     ? UINT32_MAX
                     : fake_get(frame + fake_word(&python, CPYTHON_FRAME_POSITION)) - 2,
                 fake_word(&python, CPYTHON_POSITION_UNIT) ? 4 : 8);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 1)), "new:16777215");
    }
}

/* 3.14, free-threaded: each thread has its own bytecode, and references are tagged. */
static void the_position_counts_in_the_bytecode_of_the_thread(void **unused)
{
    uint64_t state, code, frame, list, own;

    (void)unused;
    fake_cpython_open(&python, versions[IN_314_FREE].hex, versions[IN_314_FREE].debug);
    state = fake_state(&python, fake_interpreter(&python), POINTER, FAKE_TID);
    code = fake_code(&python, "f", "/a.py", 3);
    own = fake_new(&python, 64);
    list = fake_new(&python, 64);
    ((uint64_t *)list)[0] = 3;
    ((uint64_t *)list)[3] = own;
    fake_put(&python, code, CPYTHON_CODE_TLBC, list, 8);
    fake_enter(&python, state, NATIVE(&python, 2));
    frame = fake_call(&python, state, code | 1, 0, true);
    fake_put(&python, frame, CPYTHON_FRAME_POSITION, own + 12, 8);
    fake_put(&python, frame, CPYTHON_FRAME_TLBC, 2, 4);
    fake_begin(&python, POINTER);
    assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "f:12");
    fake_put(&python, frame, CPYTHON_FRAME_TLBC, 3, 4); /* there is none */
    fake_begin(&python, POINTER);
    assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "f:16777215");
    fake_cpython_close(&python);
}

static void a_thread_without_a_state_has_no_frames(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        fake_begin(&python, POINTER); /* before the interpreter is made */
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "");
        two_native_frames(fake_interpreter(&python));
        fake_begin(&python, POINTER + 0x1000);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "");
    }
}

/* Another state is at its address, or its neighbours know it no more. */
static void a_state_that_was_given_back_is_not_remembered(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        uint64_t interpreter = fake_interpreter(&python), old = two_native_frames(interpreter);
        uint64_t state;

        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), inner_frames());
        fake_put(&python, interpreter, CPYTHON_INTERPRETER_THREADS, 0, 8);
        state = fake_state(&python, interpreter, POINTER, FAKE_TID);
        assert_true(state != old);
        fake_enter(&python, state, NATIVE(&python, 2));
        fake_call(&python, state, fake_code(&python, "later", "/a.py", 1), 2, true);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), "later:2");
    }
}

/* From 3.10 on: a thread of a second interpreter, called from the first, calls into the first again. */
static void frames_of_two_interpreters_stand_in_their_own_places(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_310)
    {
        uint64_t main = fake_interpreter(&python), other;
        uint64_t outer = fake_state(&python, main, POINTER, FAKE_TID), inner;

        fake_enter(&python, outer, NATIVE(&python, 8));
        fake_call(&python, outer, fake_code(&python, "main", "/a.py", 1), 2, true);
        fake_begin(&python, POINTER); /* when there is one only, it is remembered */
        assert_string_equal(fake_frames(&python, NATIVE(&python, 8)), "main:2");
        other = fake_interpreter(&python);
        inner = fake_state(&python, other, POINTER, FAKE_TID);
        fake_enter(&python, inner, NATIVE(&python, 6));
        fake_call(&python, inner, fake_code(&python, "sub", "/s.py", 1), 4, true);
        fake_enter(&python, outer, NATIVE(&python, 4));
        fake_call(&python, outer, fake_code(&python, "again", "/a.py", 5), 6, true);
        fake_begin(&python, POINTER);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "again:6");
        assert_string_equal(fake_frames(&python, NATIVE(&python, 6)), "sub:4");
        assert_string_equal(fake_frames(&python, NATIVE(&python, 8)), "main:2");
    }
}

/* 3.9: the newest interpreter's are the innermost. */
static void without_records_the_newest_interpreter_comes_first(void **unused)
{
    uint64_t main, inner, outer;

    (void)unused;
    fake_cpython_open(&python, versions[IN_39].hex, NULL);
    main = fake_interpreter(&python);
    outer = fake_state(&python, main, POINTER, FAKE_TID);
    fake_call(&python, outer, fake_code(&python, "main", "/a.py", 1), 2, true);
    fake_begin(&python, POINTER);
    assert_string_equal(fake_frames(&python, NATIVE(&python, 8)), "main:2");
    inner = fake_state(&python, fake_interpreter(&python), POINTER, FAKE_TID);
    fake_begin(&python, POINTER); /* it runs nothing yet */
    assert_string_equal(fake_frames(&python, NATIVE(&python, 8)), "main:2");
    fake_call(&python, inner, fake_code(&python, "sub", "/s.py", 1), 4, true);
    fake_begin(&python, POINTER);
    assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "sub:4");
    assert_string_equal(fake_frames(&python, NATIVE(&python, 8)), "main:2");
    fake_cpython_close(&python);
}

static void a_chain_that_leads_in_a_circle_ends(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_39)
    {
        uint64_t state = two_native_frames(fake_interpreter(&python)), object;
        enum cpython_word word;
        uint64_t frame = fake_newest(&python, state, &object, &word);

        fake_put(&python, frame, CPYTHON_FRAME_PREVIOUS, frame, 8);
        fake_begin(&python, POINTER);
        fake_frames(&python, NATIVE(&python, 2));
        assert_true(python.scan.put <= 4096);
    }
}

/* Sleepers of another process: from 3.11 on by the thread's number; 3.10 by where its frames lie. */
static void a_thread_is_known_without_its_pointer(void **unused)
{
    (void)unused;
    FOR_EACH_VERSION(&python, IN_310)
    {
        uint64_t interpreter = fake_interpreter(&python);

        two_native_frames(interpreter);
        fake_state(&python, interpreter, POINTER + 0x1000, FAKE_TID + 1);
        fake_begin(&python, 0);
        assert_string_equal(fake_frames(&python, NATIVE(&python, 2)), inner_frames());
        assert_string_equal(fake_frames(&python, NATIVE(&python, 4)), "<module>:2");
    }
}

static void a_version_that_is_not_known_is_not_guessed(void **unused)
{
    uint64_t words[FEED_RUNTIME_WORDS_MAX], debug[CPYTHON_DEBUG_OFFSETS];

    (void)unused;
    assert_string_equal(cpython_layout(0x030812f0, NULL, words), "older than 3.9");
    assert_string_equal(cpython_layout(0, NULL, words), "older than 3.9");
    assert_string_equal(cpython_layout(0x030f00f0, debug_314[0], words), "newer than 3.14");
    assert_string_equal(cpython_layout(0x030d00f0, NULL, words),
                        "its debug offsets cannot be read");
    memcpy(debug, debug_313[0], sizeof(debug));
    debug[1] = 0x030e00f0; /* 3.13's order, by a 3.14 */
    assert_string_equal(cpython_layout(0x030e00f0, debug, words),
                        "its debug offsets are of another form");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_native_frame_stands_for_those_that_it_was_entered_for),
        cmocka_unit_test(a_native_frame_that_was_not_seen_does_not_shift_the_others),
        cmocka_unit_test(what_a_new_record_holds_by_chance_is_not_believed),
        cmocka_unit_test(a_frame_that_ends_is_its_native_frames_until_it_is_gone),
        cmocka_unit_test(a_frame_whose_code_was_freed_is_left_out),
        cmocka_unit_test(another_code_at_the_same_address_is_another),
        cmocka_unit_test(names_are_utf_8_whatever_their_characters_take),
        cmocka_unit_test(a_frame_that_has_not_begun_has_no_position),
        cmocka_unit_test(the_position_counts_in_the_bytecode_of_the_thread),
        cmocka_unit_test(a_thread_without_a_state_has_no_frames),
        cmocka_unit_test(a_state_that_was_given_back_is_not_remembered),
        cmocka_unit_test(frames_of_two_interpreters_stand_in_their_own_places),
        cmocka_unit_test(without_records_the_newest_interpreter_comes_first),
        cmocka_unit_test(a_chain_that_leads_in_a_circle_ends),
        cmocka_unit_test(a_thread_is_known_without_its_pointer),
        cmocka_unit_test(a_version_that_is_not_known_is_not_guessed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

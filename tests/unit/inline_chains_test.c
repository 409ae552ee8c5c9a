/* The bounded table of what addresses are. */
#include "sampler/profile/naming/inline_chains.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTES = 256 * 1024 };

static void put(struct inline_chains *chains, uint64_t frame, uint32_t count)
{
    struct chain_frame frames[INLINE_CHAIN_MAX] = { { 0 } };

    for (uint32_t i = 0; i < count; i++)
        frames[i] = (struct chain_frame){ .function = (uint32_t)frame + i,
                                          .line = i + 1,
                                          .inlined = i + 1 < count };
    assert_int_equal(inline_chains_put(chains, frame, frames, count), 0);
}

static void a_chain_comes_back_as_it_was_put(void **state)
{
    struct chain_frame found[INLINE_CHAIN_MAX];
    struct inline_chains *chains;
    bool asked;

    (void)state;
    assert_int_equal(inline_chains_new(&chains, BYTES), 0);
    put(chains, 1, 1);
    put(chains, 2, INLINE_CHAIN_MAX);
    put(chains, 3, 2);
    assert_int_equal(inline_chains_find(chains, 2, found, &asked), INLINE_CHAIN_MAX);
    assert_int_equal(found[INLINE_CHAIN_MAX - 1].function, 2 + INLINE_CHAIN_MAX - 1);
    assert_int_equal(inline_chains_find(chains, 3, found, &asked), 2);
    assert_true(found[0].inlined && !found[1].inlined);
    assert_int_equal(inline_chains_find(chains, 4, found, &asked), 0);
    assert_false(asked);
    inline_chains_free(chains);
}

static void what_is_asked_for_says_so_until_it_is_there(void **state)
{
    struct chain_frame found[INLINE_CHAIN_MAX];
    struct inline_chains *chains;
    bool asked;

    (void)state;
    assert_int_equal(inline_chains_new(&chains, BYTES), 0);
    assert_int_equal(inline_chains_mark_asked(chains, 7), 0);
    assert_int_equal(inline_chains_find(chains, 7, found, &asked), 0);
    assert_true(asked);
    put(chains, 7, 1);
    assert_int_equal(inline_chains_mark_asked(chains, 7), 0);
    assert_int_equal(inline_chains_find(chains, 7, found, &asked), 1);
    assert_false(asked);
    inline_chains_free(chains);
}

/* A hundred windows, each with pcs of its own beside one that all have. */
static void memory_is_bounded_and_what_is_looked_at_stays(void **state)
{
    struct chain_frame found[INLINE_CHAIN_MAX];
    struct inline_chains *chains;
    bool asked;

    (void)state;
    assert_int_equal(inline_chains_new(&chains, BYTES), 0);
    put(chains, 1, 2);
    for (uint64_t window = 1; window <= 100; window++) {
        for (uint64_t pc = 0; pc < 500; pc++)
            put(chains, window << 32 | pc, 2);
        assert_int_equal(inline_chains_find(chains, 1, found, &asked), 2);
        inline_chains_settle(chains);
        assert_true(inline_chains_bytes(chains) <= 2 * BYTES);
    }
    assert_int_equal(inline_chains_find(chains, UINT64_C(1) << 32, found, &asked), 0);
    inline_chains_free(chains);
}

/* However large a window is: nothing goes before it has been shown. */
static void nothing_is_forgotten_before_a_window_is_shown(void **state)
{
    struct chain_frame found[INLINE_CHAIN_MAX];
    struct inline_chains *chains;
    bool asked;

    (void)state;
    assert_int_equal(inline_chains_new(&chains, BYTES), 0);
    for (uint64_t pc = 1; pc <= 20000; pc++)
        put(chains, pc, 2);
    for (uint64_t pc = 1; pc <= 20000; pc++)
        assert_int_equal(inline_chains_find(chains, pc, found, &asked), 2);
    inline_chains_free(chains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_comes_back_as_it_was_put),
        cmocka_unit_test(what_is_asked_for_says_so_until_it_is_there),
        cmocka_unit_test(memory_is_bounded_and_what_is_looked_at_stays),
        cmocka_unit_test(nothing_is_forgotten_before_a_window_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

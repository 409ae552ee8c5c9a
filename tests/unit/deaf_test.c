#include "sampler/capture/threads/deaf.h"
#include "sampler/capture/threads/tick_signal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static bool blocks(const char *text, int number)
{
    return tick_signal_is_in(deaf_blocked(text), number);
}

static void the_signals_bit_in_the_mask_decides(void **state)
{
    static const char text[] = "Name:\tcat\nShdPnd:\t0000000000400000\n"
                               "SigBlk:\t0000000000400004\nSigIgn:\tffffffffffffffff\n";

    (void)state;
    assert_true(blocks(text, SIGURG));
    assert_true(blocks(text, SIGQUIT));
    assert_false(blocks(text, SIGINT));
    assert_false(blocks(text, SIGTRAP));
    assert_true(blocks("State:\tR\nSigBlk:\tfffffffe7ffbfeff\n", SIGURG));
    assert_true(blocks("State:\tR\nSigBlk:\t8000000000000000\n", 64));
}

static void text_without_a_mask_blocks_nothing(void **state)
{
    (void)state;
    assert_false(blocks("", SIGURG));
    assert_false(blocks("Name:\tSigBlk:\n", SIGURG));
    assert_false(blocks("Name:\tx\nSigBlk:\t", SIGURG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signals_bit_in_the_mask_decides),
        cmocka_unit_test(text_without_a_mask_blocks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "sampler/capture/threads/deaf.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static void the_signals_bit_in_the_mask_decides(void **state)
{
    static const char text[] = "Name:\tcat\nShdPnd:\t0000000000400000\n"
                               "SigBlk:\t0000000000400004\nSigIgn:\tffffffffffffffff\n";

    (void)state;
    assert_true(deaf_blocks(text, SIGURG));
    assert_true(deaf_blocks(text, SIGQUIT));
    assert_false(deaf_blocks(text, SIGINT));
    assert_false(deaf_blocks(text, SIGTRAP));
    assert_true(deaf_blocks("State:\tR\nSigBlk:\tfffffffe7ffbfeff\n", SIGURG));
    assert_true(deaf_blocks("State:\tR\nSigBlk:\t8000000000000000\n", 64));
}

static void text_without_a_mask_blocks_nothing(void **state)
{
    (void)state;
    assert_false(deaf_blocks("", SIGURG));
    assert_false(deaf_blocks("Name:\tSigBlk:\n", SIGURG));
    assert_false(deaf_blocks("Name:\tx\nSigBlk:\t", SIGURG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signals_bit_in_the_mask_decides),
        cmocka_unit_test(text_without_a_mask_blocks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

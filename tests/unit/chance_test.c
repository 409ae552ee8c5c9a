/* Which allocations are sampled: by their bytes, and without a memory of what was before. */
#include "sampler/capture/own/chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DRAWS = 200000, MEAN = 512 * 1024 };

static void the_logarithm_is_libms(void **state)
{
    const uint64_t most = (UINT64_C(1) << 53) - 1;

    (void)state;
    for (int bit = 0; bit < 53; bit++)
        for (uint64_t add = 0; add < 5; add++) {
            uint64_t number = ((UINT64_C(1) << bit) + add * 977) & most;
            double right = -log(((double)number + 1) / 9007199254740992.0);

            assert_true(fabs(chance_minus_log(number) - right) < 1e-8);
        }
    assert_true(fabs(chance_minus_log(most)) < 1e-12);
}

static void gaps_are_exponential(void **state)
{
    uint64_t random = 1;
    double sum = 0, squares = 0;
    uint32_t beyond[4] = { 0 };

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double gap = (double)chance_units(&random, MEAN);

        assert_true(gap >= 0);
        sum += gap;
        squares += gap * gap;
        for (int times = 0; times < 4; times++)
            beyond[times] += gap > MEAN * (times + 1.0) / 2;
    }
    /* Mean and deviation are the same; of each within five standard errors. */
    assert_true(fabs(sum / DRAWS / MEAN - 1) < 5 / sqrt(DRAWS));
    assert_true(fabs(sqrt(squares / DRAWS - sum / DRAWS * (sum / DRAWS)) / MEAN - 1) <
                5 * sqrt(2.0 / DRAWS));
    for (int times = 0; times < 4; times++) {
        double share = exp(-(times + 1.0) / 2);

        assert_true(fabs(beyond[times] / (double)DRAWS - share) <
                    5 * sqrt(share * (1 - share) / DRAWS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_logarithm_is_libms),
        cmocka_unit_test(gaps_are_exponential),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

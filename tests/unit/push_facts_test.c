/* What /proc tells of a process' build. */
#include "server/push/push_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_process_that_is_gone_has_none(void **state)
{
    char id[PUSH_ID_BYTES];

    (void)state;
    push_build_of(0x7fffffff, id);
    assert_string_equal(id, "");
}

static void ours_has_a_build(void **state)
{
    char id[PUSH_ID_BYTES];

    (void)state;
    push_build_of(getpid(), id);
    assert_int_equal(strlen(id), 40); /* as ld makes them: SHA-1 */
    assert_int_equal(strspn(id, "0123456789abcdef"), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_is_gone_has_none),
        cmocka_unit_test(ours_has_a_build),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

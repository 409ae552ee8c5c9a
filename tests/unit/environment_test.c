/* What a program is started with. */
#include "server/run/environment.h"

#include "sampler/feed/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct environment_feed feed = {
    .timer = "auto",
    .watch_loops = "all",
    .library = "/lib/libisoscope.so",
    .socket = "/run/x/feed",
    .period_us = 250,
    .enabled = true,
};

static unsigned count(char **list, const char *entry)
{
    unsigned found = 0;

    for (; *list; list++)
        found += !strcmp(*list, entry);
    return found;
}

static unsigned length(char **list)
{
    unsigned found = 0;

    while (list[found])
        found++;
    return found;
}

static void the_feed_is_added_and_the_rest_stays(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    char *base[] = { "HOME=/root", "EMPTY=", "odd", NULL };

    (void)state;
    assert_int_equal(environment_new(&environment, base, &feed), 0);

    char **list = environment_list(environment);
    assert_int_equal(length(list), 12);
    assert_int_equal(count(list, "HOME=/root"), 1);
    assert_int_equal(count(list, "EMPTY="), 1);
    assert_int_equal(count(list, "odd"), 1);
    assert_int_equal(count(list, "LD_PRELOAD=/lib/libisoscope.so"), 1);
    assert_int_equal(count(list, "ISOSCOPE_SOCKET=/run/x/feed"), 1);
    assert_int_equal(count(list, "ISOSCOPE_PERIOD_US=250"), 1);
    assert_int_equal(count(list, "ISOSCOPE_ENABLED=1"), 1);
    assert_int_equal(count(list, "ISOSCOPE_TIMER=auto"), 1);
    assert_int_equal(count(list, "ISOSCOPE_WATCH_LOOPS=all"), 1);
    assert_int_equal(count(list, "ISOSCOPE_ALLOC=0"), 1);
    assert_int_equal(count(list, "ISOSCOPE_LOCK=0"), 1);
}

static void allocations_come_by_where_they_are_wanted(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    struct environment_feed sampling = feed;
    char *base[] = { "LD_PRELOAD=a.so", NULL };
    char **list;

    (void)state;
    sampling.companions[ENVIRONMENT_ALLOC] = "/lib/libisoscope_alloc.so";
    sampling.allocation_bytes = 4096;
    assert_int_equal(environment_new(&environment, base, &sampling), 0);
    list = environment_list(environment);
    assert_int_equal(count(list, "LD_PRELOAD=/lib/libisoscope.so:/lib/libisoscope_alloc.so:a.so"),
                     1);
    assert_int_equal(count(list, "ISOSCOPE_ALLOC=4096"), 1);
}

static void locks_stand_behind_allocations(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    struct environment_feed sampling = feed;
    char *base[] = { NULL };
    char **list;

    (void)state;
    sampling.companions[ENVIRONMENT_ALLOC] = "/lib/libisoscope_alloc.so";
    sampling.companions[ENVIRONMENT_LOCK] = "/lib/libisoscope_lock.so";
    sampling.lock_us = 50;
    assert_int_equal(environment_new(&environment, base, &sampling), 0);
    list = environment_list(environment);
    assert_int_equal(count(list, "LD_PRELOAD=/lib/libisoscope.so:/lib/libisoscope_alloc.so:"
                                 "/lib/libisoscope_lock.so"),
                     1);
    assert_int_equal(count(list, "ISOSCOPE_LOCK=50"), 1);
}

static void what_was_preloaded_stays_behind_the_sampler(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    char *base[] = { "LD_PRELOAD=a.so b.so", NULL };

    (void)state;
    assert_int_equal(environment_new(&environment, base, &feed), 0);
    assert_int_equal(length(environment_list(environment)), 9);
    assert_int_equal(
        count(environment_list(environment), "LD_PRELOAD=/lib/libisoscope.so:a.so b.so"), 1);
}

/* isoscope under isoscope: the inner one's program feeds the inner one. */
static void the_feed_of_an_outer_run_is_replaced(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    char *base[] = { "ISOSCOPE_SOCKET=/outer", "ISOSCOPE_SOCKETS=mine", NULL };

    (void)state;
    assert_int_equal(environment_new(&environment, base, &feed), 0);

    char **list = environment_list(environment);
    assert_int_equal(count(list, "ISOSCOPE_SOCKET=/outer"), 0);
    assert_int_equal(count(list, "ISOSCOPE_SOCKETS=mine"), 1);
}

static void a_paused_run_starts_its_program_disabled(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    struct environment_feed paused = feed;
    char *base[] = { NULL };

    (void)state;
    paused.enabled = false;
    assert_int_equal(environment_new(&environment, base, &paused), 0);
    assert_int_equal(count(environment_list(environment), "ISOSCOPE_ENABLED=0"), 1);
}

static void collectors_are_named_where_the_user_has_named_none(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    struct environment_feed collecting = feed;
    char *base[] = { "NVTX_INJECTION64_PATH=/own.so", NULL };

    (void)state;
    collecting.collectors = "/lib";
    assert_int_equal(environment_new(&environment, base, &collecting), 0);

    char **list = environment_list(environment);
    assert_int_equal(length(list), 12);
    assert_int_equal(count(list, "NVTX_INJECTION64_PATH=/own.so"), 1);
    assert_int_equal(count(list, "INTEL_LIBITTNOTIFY64=/lib/libisoscope_itt.so"), 1);
    assert_int_equal(count(list, "INTEL_JIT_PROFILER64=/lib/libisoscope_itt.so"), 1);
}

static void options_of_runtimes_stand_before_the_users_own(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    struct environment_feed naming = feed;
    char *base[] = { "ERL_AFLAGS=-extra a", "DOTNET_PerfMapEnabled=0", NULL };

    (void)state;
    naming.runtime_options = true;
    assert_int_equal(environment_new(&environment, base, &naming), 0);
    assert_int_equal(length(environment_list(environment)), 11);
    assert_int_equal(count(environment_list(environment), "ERL_AFLAGS=+JPperf true -extra a"), 1);
    assert_int_equal(count(environment_list(environment), "DOTNET_PerfMapEnabled=0"), 1);
}

static void options_of_runtimes_are_set_where_the_user_has_none(void **state)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    struct environment_feed naming = feed;
    char *base[] = { "ERL_AFLAGS=", NULL };

    (void)state;
    naming.runtime_options = true;
    assert_int_equal(environment_new(&environment, base, &naming), 0);
    assert_int_equal(length(environment_list(environment)), 11);
    assert_int_equal(count(environment_list(environment), "ERL_AFLAGS=+JPperf true"), 1);
    assert_int_equal(count(environment_list(environment), "DOTNET_PerfMapEnabled=1"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_feed_is_added_and_the_rest_stays),
        cmocka_unit_test(allocations_come_by_where_they_are_wanted),
        cmocka_unit_test(locks_stand_behind_allocations),
        cmocka_unit_test(what_was_preloaded_stays_behind_the_sampler),
        cmocka_unit_test(the_feed_of_an_outer_run_is_replaced),
        cmocka_unit_test(a_paused_run_starts_its_program_disabled),
        cmocka_unit_test(collectors_are_named_where_the_user_has_named_none),
        cmocka_unit_test(options_of_runtimes_stand_before_the_users_own),
        cmocka_unit_test(options_of_runtimes_are_set_where_the_user_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

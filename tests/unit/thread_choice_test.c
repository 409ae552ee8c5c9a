#include "sampler/profile/wall/thread_choice.h"

#include "sampler/feed/feed_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

static void a_star_stands_for_any_characters(void **state)
{
    (void)state;
    assert_true(thread_choice_matches("*", "", 1));
    assert_true(thread_choice_matches("*", "main", 1));
    assert_true(thread_choice_matches("pool-*", "pool-", 1));
    assert_true(thread_choice_matches("pool-*", "pool-17", 1));
    assert_false(thread_choice_matches("pool-*", "pool", 1));
    assert_true(thread_choice_matches("*-*-3", "pool-1-2-3", 1));
    assert_false(thread_choice_matches("*-*-3", "pool-1-2-34", 1));
    assert_true(thread_choice_matches("a*a", "aa", 1));
    assert_false(thread_choice_matches("a*a", "a", 1));
}

static void a_name_is_matched_as_a_whole(void **state)
{
    (void)state;
    assert_true(thread_choice_matches("main", "main", 1));
    assert_false(thread_choice_matches("main", "main2", 1));
    assert_false(thread_choice_matches("main2", "main", 1));
}

static void any_of_the_list_is_enough_and_blanks_around_it_do_not_count(void **state)
{
    (void)state;
    assert_true(thread_choice_matches("io, pool-* ,main", "pool-3", 1));
    assert_true(thread_choice_matches("io, pool-* ,main", "main", 1));
    assert_false(thread_choice_matches("io, pool-* ,main", "other", 1));
    assert_true(thread_choice_matches("two words", "two words", 1));
    assert_false(thread_choice_matches(" , ,,", "", 1));
    assert_false(thread_choice_matches("", "", 1));
}

static void a_number_is_a_tid_or_a_name(void **state)
{
    (void)state;
    assert_true(thread_choice_matches("a,1234", "x", 1234));
    assert_false(thread_choice_matches("a,1234", "x", 123));
    assert_true(thread_choice_matches("77", "77", 1));
    assert_false(thread_choice_matches("99999999999999999999", "x", 1));
}

/* The service's list goes through the feed, and what was found out before is looked at again. */
static void a_new_list_or_name_changes_the_choice(void **state)
{
    struct feed_settings settings = { .wall_threads = "work*" };
    struct thread_choice choice = { 0 };
    struct feed_reader *reader;
    struct feed_writer writer;
    uint32_t slot;
    int memfd;

    (void)state;
    assert_int_equal(feed_writer_create(&writer, &memfd, getpid(), 1), 0);
    assert_int_equal(feed_reader_open(&reader, memfd), 0);
    slot = feed_writer_thread_claim(&writer, 42, 1);
    feed_writer_thread_publish(&writer, slot);
    thread_choice_follow(&choice, &writer);
    assert_true(thread_chosen(&choice, &writer, slot, 42));

    feed_reader_control(reader, &settings);
    thread_choice_follow(&choice, &writer);
    assert_false(thread_chosen(&choice, &writer, slot, 42));
    feed_writer_thread_name(&writer, slot, "worker\0\0\0\0\0\0\0\0\0");
    assert_true(thread_chosen(&choice, &writer, slot, 42));
    feed_writer_thread_name(&writer, slot, "idler\0\0\0\0\0\0\0\0\0\0");
    assert_false(thread_chosen(&choice, &writer, slot, 42));

    strcpy(settings.wall_threads, "idl*");
    feed_reader_control(reader, &settings);
    thread_choice_follow(&choice, &writer);
    assert_true(thread_chosen(&choice, &writer, slot, 42));
    thread_choice_free(&choice);
    feed_reader_free(reader);
    feed_writer_destroy(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_stands_for_any_characters),
        cmocka_unit_test(a_name_is_matched_as_a_whole),
        cmocka_unit_test(any_of_the_list_is_enough_and_blanks_around_it_do_not_count),
        cmocka_unit_test(a_number_is_a_tid_or_a_name),
        cmocka_unit_test(a_new_list_or_name_changes_the_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

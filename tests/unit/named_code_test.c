#include "sampler/capture/unwind/named_code.h"

#include "sampler/feed/cleanup.h"
#include "sampler/feed/chance.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct code_maps maps;

static const char *name_at(const struct named_code *code, uint64_t pc)
{
    const struct named_range *range = named_code_find(code, pc);

    return range ? range->name : "-";
}

static void a_pc_is_in_the_range_that_holds_it(void **state)
{
    CLEANUP(named_code_clear) struct named_code code = { 0 };

    (void)state;
    assert_string_equal(name_at(&code, 100), "-");
    named_code_add(&code, &maps, 200, 50, "b");
    named_code_add(&code, &maps, 100, 100, "a");
    assert_string_equal(name_at(&code, 99), "-");
    assert_string_equal(name_at(&code, 100), "a");
    assert_string_equal(name_at(&code, 199), "a");
    assert_string_equal(name_at(&code, 200), "b");
    assert_string_equal(name_at(&code, 250), "-");
    assert_int_equal(named_code_remove(&code, &maps, 100), 0);
    assert_int_equal(named_code_remove(&code, &maps, 100), -ISOSCOPE_NOT_FOUND);
    assert_string_equal(name_at(&code, 150), "-");
    assert_string_equal(name_at(&code, 200), "b");
}

static void new_code_takes_the_place_of_what_it_overlaps(void **state)
{
    CLEANUP(named_code_clear) struct named_code code = { 0 };

    (void)state;
    named_code_add(&code, &maps, 100, 100, "old 1");
    named_code_add(&code, &maps, 200, 100, "old 2");
    named_code_add(&code, &maps, 300, 100, "old 3");
    named_code_add(&code, &maps, 400, 100, "stays");
    named_code_add(&code, &maps, 150, 200, "new");
    assert_string_equal(name_at(&code, 120), "-");
    assert_string_equal(name_at(&code, 150), "new");
    assert_string_equal(name_at(&code, 349), "new");
    assert_string_equal(name_at(&code, 350), "-");
    assert_string_equal(name_at(&code, 400), "stays");
    named_code_add(&code, &maps, 400, 100, "again");
    assert_string_equal(name_at(&code, 499), "again");
}

static void thousands_of_ranges_are_found_in_any_order(void **state)
{
    CLEANUP(named_code_clear) struct named_code code = { 0 };
    char name[16];

    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t number = i * 7919 % 20000; /* 7919 and 20,000 have no divisor in common */

        snprintf(name, sizeof(name), "%u", number);
        assert_int_equal(named_code_add(&code, &maps, 1000 + number * 10, 9, name), 0);
    }
    for (uint32_t i = 0; i < 20000; i += 2)
        assert_int_equal(named_code_remove(&code, &maps, 1000 + i * 10), 0);
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "%u", i);
        assert_string_equal(name_at(&code, 1000 + i * 10 + 8), i % 2 ? name : "-");
        assert_string_equal(name_at(&code, 1000 + i * 10 + 9), "-");
    }
}

/* What handlers hold is not freed: the one here holds it until it leaves. */
static void a_removed_range_stays_while_a_handler_is_in(void **state)
{
    CLEANUP(named_code_clear) struct named_code code = { 0 };
    const struct named_range *held;
    uint32_t group;

    (void)state;
    named_code_add(&code, &maps, 100, 10, "held");
    code_map_enter(&maps, &group);
    held = named_code_find(&code, 105);
    named_code_remove(&code, &maps, 100);
    for (int i = 0; i < 10; i++)
        named_code_add(&code, &maps, 100, 10, "other");
    assert_string_equal(held->name, "held");
    code_map_leave(&maps, group);
    for (int i = 0; i < 3; i++)
        named_code_add(&code, &maps, 100, 10, "other");
    for (const struct retired *retired = code.retired; retired; retired = retired->next)
        assert_ptr_not_equal(retired, &held->retired);
}

struct race {
    struct named_code code;
    _Atomic bool over;
};

/* The names say where the range lies. */
static void *look_all_the_time(void *argument)
{
    struct race *race = argument;
    uint64_t wrong = 0;

    for (uint64_t pc = 1000; !race->over; pc = pc < 3000 ? pc + 7 : 1000) {
        const struct named_range *range;
        uint32_t group;

        code_map_enter(&maps, &group);
        range = named_code_find(&race->code, pc);
        if (range && (strtoul(range->name, NULL, 10) != range->start || pc < range->start))
            wrong++;
        /* The one that stays is found whatever else goes on. */
        range = named_code_find(&race->code, 2005);
        wrong += !range || range->start != 2000;
        code_map_leave(&maps, group);
    }
    return (void *)(uintptr_t)wrong;
}

static void handlers_find_what_stays_while_others_come_and_go(void **state)
{
    struct race race = { 0 };
    uint32_t seed = 1;
    pthread_t looker;
    void *wrong;
    char name[16];

    (void)state;
    named_code_add(&race.code, &maps, 2000, 10, "2000");
    assert_int_equal(pthread_create(&looker, NULL, look_all_the_time, &race), 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t start;

        chance_next(&seed);
        start = 1000 + (seed >> 8) % 200 * 10;
        if (start == 2000)
            continue;
        snprintf(name, sizeof(name), "%lu", (unsigned long)start);
        if (seed >> 31)
            named_code_add(&race.code, &maps, start, 10, name);
        else
            named_code_remove(&race.code, &maps, start);
    }
    race.over = true;
    pthread_join(looker, &wrong);
    assert_null(wrong);
    named_code_clear(&race.code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pc_is_in_the_range_that_holds_it),
        cmocka_unit_test(new_code_takes_the_place_of_what_it_overlaps),
        cmocka_unit_test(thousands_of_ranges_are_found_in_any_order),
        cmocka_unit_test(a_removed_range_stays_while_a_handler_is_in),
        cmocka_unit_test(handlers_find_what_stays_while_others_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

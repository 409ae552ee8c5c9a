#include "sampler/capture/unwind/frame_providers.h"

#include "sampler/feed/cleanup.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct code_maps maps;

static const char *no_frames(void *context, const struct isoscope_native_frame *native,
                             void **cursor)
{
    (void)context, (void)native, (void)cursor;
    return NULL;
}

static int add(struct frame_providers *providers, uint64_t start, uint64_t end, void *context)
{
    const struct provider_range range = {
        .start = start, .end = end, .call = no_frames, .context = context
    };

    return frame_providers_add(providers, &maps, &range);
}

static const struct provider_range *at(const struct frame_providers *providers, uint64_t pc)
{
    const struct provider_list *list = frame_providers_list(providers);

    return list ? frame_providers_find(list, pc) : NULL;
}

static const void *context_at(const struct frame_providers *providers, uint64_t pc)
{
    const struct provider_range *range = at(providers, pc);

    return range ? range->context : NULL;
}

static void each_provider_is_asked_about_its_own_ranges_only(void **state)
{
    CLEANUP(frame_providers_free) struct frame_providers providers = { .retired = NULL };
    char one, other;

    (void)state;
    assert_null(at(&providers, 100));
    assert_int_equal(add(&providers, 300, 310, &one), 0);
    assert_int_equal(add(&providers, 100, 110, &one), 0);
    assert_int_equal(add(&providers, 200, 210, &other), 0);
    assert_null(at(&providers, 99));
    assert_ptr_equal(context_at(&providers, 100), &one);
    assert_ptr_equal(context_at(&providers, 109), &one);
    assert_null(at(&providers, 110));
    assert_ptr_equal(context_at(&providers, 205), &other);
    assert_ptr_equal(context_at(&providers, 300), &one);
    assert_null(at(&providers, 310));
}

/* A walk keeps a cursor by this number. */
static void ranges_of_one_provider_have_one_number(void **state)
{
    CLEANUP(frame_providers_free) struct frame_providers providers = { .retired = NULL };
    char one, other;

    (void)state;
    add(&providers, 100, 110, &one);
    add(&providers, 200, 210, &other);
    add(&providers, 300, 310, &one);
    assert_int_equal(at(&providers, 100)->number, at(&providers, 300)->number);
    assert_int_not_equal(at(&providers, 100)->number, at(&providers, 200)->number);
}

static void a_range_that_overlaps_is_refused_and_changes_nothing(void **state)
{
    CLEANUP(frame_providers_free) struct frame_providers providers = { .retired = NULL };
    static const uint64_t overlapping[][2] = { { 100, 200 }, { 50, 101 },  { 199, 300 },
                                               { 50, 300 },  { 150, 160 }, { 250, 260 } };
    char one, other;

    (void)state;
    add(&providers, 100, 200, &one);
    add(&providers, 250, 260, &one);
    for (size_t i = 0; i < sizeof overlapping / sizeof overlapping[0]; i++) {
        assert_int_equal(add(&providers, overlapping[i][0], overlapping[i][1], &other),
                         -ISOSCOPE_OVERLAP);
        assert_ptr_equal(context_at(&providers, 150), &one);
        assert_null(at(&providers, 99));
        assert_null(at(&providers, 200));
    }
    /* To touch is not to overlap. */
    assert_int_equal(add(&providers, 50, 100, &other), 0);
    assert_int_equal(add(&providers, 200, 250, &other), 0);
}

static void a_ninth_provider_is_refused_until_one_has_gone(void **state)
{
    CLEANUP(frame_providers_free) struct frame_providers providers = { .retired = NULL };
    char contexts[FRAME_PROVIDERS_MAX + 1];
    uint32_t numbers = 0;

    (void)state;
    for (uint64_t i = 0; i < FRAME_PROVIDERS_MAX; i++)
        assert_int_equal(add(&providers, i * 10, i * 10 + 5, &contexts[i]), 0);
    assert_int_equal(add(&providers, 1000, 1010, &contexts[FRAME_PROVIDERS_MAX]), -ISOSCOPE_LIMIT);
    assert_null(at(&providers, 1000));
    /* One that is there already may have more. */
    assert_int_equal(add(&providers, 2000, 2010, &contexts[3]), 0);
    assert_int_equal(frame_providers_remove(&providers, &maps, 10), 0);
    assert_int_equal(add(&providers, 1000, 1010, &contexts[FRAME_PROVIDERS_MAX]), 0);
    for (uint64_t i = 0; i < FRAME_PROVIDERS_MAX; i++)
        numbers |= 1u << at(&providers, i == 1 ? 1000 : i * 10)->number;
    assert_int_equal(numbers, (1u << FRAME_PROVIDERS_MAX) - 1);
}

static void what_is_removed_is_asked_no_more(void **state)
{
    CLEANUP(frame_providers_free) struct frame_providers providers = { .retired = NULL };
    char one;

    (void)state;
    assert_int_equal(frame_providers_remove(&providers, &maps, 100), -ISOSCOPE_NOT_FOUND);
    add(&providers, 100, 110, &one);
    add(&providers, 200, 210, &one);
    assert_int_equal(frame_providers_remove(&providers, &maps, 105), -ISOSCOPE_NOT_FOUND);
    assert_int_equal(frame_providers_remove(&providers, &maps, 100), 0);
    assert_null(at(&providers, 105));
    assert_non_null(at(&providers, 205));
    assert_int_equal(frame_providers_remove(&providers, &maps, 200), 0);
    assert_null(frame_providers_list(&providers));
}

/* What handlers hold is not freed: the one here holds it until it leaves. */
static void a_removed_range_stays_while_a_handler_is_in(void **state)
{
    CLEANUP(frame_providers_free) struct frame_providers providers = { .retired = NULL };
    const struct provider_list *held;
    uint32_t group;
    char one;

    (void)state;
    add(&providers, 100, 110, &one);
    code_map_enter(&maps, &group);
    held = frame_providers_list(&providers);
    for (uint64_t i = 0; i < 10; i++) {
        frame_providers_remove(&providers, &maps, 100);
        add(&providers, 100, 110, &one);
    }
    assert_ptr_equal(frame_providers_find(held, 105)->context, &one);
    code_map_leave(&maps, group);
    for (uint64_t i = 0; i < 3; i++)
        add(&providers, 200 + i * 10, 210 + i * 10, &one);
    for (const struct retired *retired = providers.retired; retired; retired = retired->next)
        assert_ptr_not_equal(retired, held);
}

struct race {
    struct frame_providers providers;
    _Atomic bool over;
};

/* The contexts say where the range begins. */
static void *look_all_the_time(void *argument)
{
    struct race *race = argument;
    uint64_t wrong = 0;

    for (uint64_t pc = 1000; !race->over; pc = pc < 3000 ? pc + 7 : 1000) {
        const struct provider_list *list;
        const struct provider_range *range;
        uint32_t group;

        code_map_enter(&maps, &group);
        list = frame_providers_list(&race->providers);
        range = list ? frame_providers_find(list, pc) : NULL;
        wrong += range && (*(uint64_t *)range->context != range->start || pc < range->start ||
                           pc >= range->end);
        code_map_leave(&maps, group);
    }
    return (void *)(uintptr_t)wrong;
}

/* As isoscope_frame_provider_unregister does. */
static void await_handlers(void)
{
    uint8_t drained = 0;

    while (drained != 3)
        drained |= code_maps_empty_groups(&maps);
}

static void what_a_removed_provider_used_is_free_when_both_groups_were_empty(void **state)
{
    struct race race = { .over = false };
    pthread_t looker;
    void *wrong;

    (void)state;
    assert_int_equal(pthread_create(&looker, NULL, look_all_the_time, &race), 0);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t *start = malloc(sizeof *start);

        *start = 1000 + i % 100 * 20;
        assert_int_equal(add(&race.providers, *start, *start + 10, start), 0);
        assert_int_equal(frame_providers_remove(&race.providers, &maps, *start), 0);
        await_handlers();
        *start = 0;
        free(start);
    }
    race.over = true;
    pthread_join(looker, &wrong);
    assert_null(wrong);
    frame_providers_free(&race.providers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_provider_is_asked_about_its_own_ranges_only),
        cmocka_unit_test(ranges_of_one_provider_have_one_number),
        cmocka_unit_test(a_range_that_overlaps_is_refused_and_changes_nothing),
        cmocka_unit_test(a_ninth_provider_is_refused_until_one_has_gone),
        cmocka_unit_test(what_is_removed_is_asked_no_more),
        cmocka_unit_test(a_removed_range_stays_while_a_handler_is_in),
        cmocka_unit_test(what_a_removed_provider_used_is_free_when_both_groups_were_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "address_filter.h"

#include "system/pages.h"

#include "../include/isoscope/memory.h"

#include <stddef.h>

ISOSCOPE_API const uint8_t *isoscope_memory_filter;

static uint8_t *given; /* NULL: there is none */

enum { COUNTER_FULL = UINT8_MAX }; /* it stays there */

static SIGNAL_SAFE uint8_t *filter(void)
{
    return (uint8_t *)__atomic_load_n(&isoscope_memory_filter, __ATOMIC_ACQUIRE);
}

static SIGNAL_SAFE void use(const uint8_t *made)
{
    __atomic_store_n(&isoscope_memory_filter, made, __ATOMIC_RELEASE);
}

void address_filter_give(uint8_t *to_use)
{
    if (to_use && filter() != to_use) /* it has come later than a filter of ours */
        use(NULL);
    given = to_use;
}

bool address_filter_reach(void)
{
    const uint8_t *made = filter();

    if (!made)
        made = given ? given : pages_new(ISOSCOPE_MEMORY_FILTER);
    use(made);
    return made != NULL;
}

void address_filter_clear(void)
{
    if (filter())
        pages_forget(filter(), ISOSCOPE_MEMORY_FILTER);
}

static SIGNAL_SAFE void count_at(uint8_t *counter, bool lives)
{
    uint8_t count = __atomic_load_n(counter, __ATOMIC_RELAXED), next;

    do {
        if (count == COUNTER_FULL || (!lives && !count))
            return;
        next = (uint8_t)(lives ? count + 1 : count - 1);
    } while (!__atomic_compare_exchange_n(counter, &count, next, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

void address_filter_count(uint64_t address, bool lives)
{
    uint64_t mixed = isoscope_memory_mixed((const void *)address);

    count_at(filter() + isoscope_memory_near(mixed), lives);
    count_at(filter() + isoscope_memory_far(mixed), lives);
}

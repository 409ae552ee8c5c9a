#include "module_set.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64 };

static bool grow_set(struct module_set *set, size_t count)
{
    uint64_t *words;

    if (count <= set->count)
        return true;
    words = reallocarray(set->words, count, sizeof(*words));
    if (!words)
        return false;
    memset(words + set->count, 0, (count - set->count) * sizeof(*words));
    set->words = words;
    set->count = count;
    return true;
}

void module_set_add(struct module_set *set, uint32_t number)
{
    if (grow_set(set, number / WORD_BITS + 1))
        set->words[number / WORD_BITS] |= UINT64_C(1) << number % WORD_BITS;
}

bool module_set_has(const struct module_set *set, uint32_t number)
{
    size_t word = number / WORD_BITS;

    return word < set->count && set->words[word] >> number % WORD_BITS & 1;
}

void module_set_merge(struct module_set *set, const struct module_set *from)
{
    if (!grow_set(set, from->count))
        return;
    for (size_t i = 0; i < from->count; i++)
        set->words[i] |= from->words[i];
}

void module_set_free(struct module_set *set)
{
    free(set->words);
    *set = (struct module_set){ 0 };
}

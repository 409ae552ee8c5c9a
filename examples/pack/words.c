#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024, GROUP_MAX = 4 };

bool is_word_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
}

static inline uint64_t hash_word(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037ul;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211ul;
    return hash ^ hash >> 32;
}

static struct word *find_word(struct words *words, const char *text, size_t length)
{
    size_t at = hash_word(text, length);

    for (;; at++) {
        struct word *slot = &words->slots[at & (words->slot_count - 1)];

        if (!slot->count || (slot->length == length && !memcmp(slot->text, text, length)))
            return slot;
    }
}

static void make_slots(struct words *words, size_t slot_count)
{
    words->slots = calloc(slot_count, sizeof(*words->slots));
    words->slot_count = slot_count;
    if (!words->slots)
        abort();
}

static void grow(struct words *words)
{
    struct words before = *words;

    make_slots(words, before.slot_count ? 2 * before.slot_count : FIRST_SLOTS);
    for (size_t i = 0; i < before.slot_count; i++)
        if (before.slots[i].count)
            *find_word(words, before.slots[i].text, before.slots[i].length) = before.slots[i];
    free(before.slots);
}

static void add_word(struct words *words, const char *text, size_t length)
{
    struct word *word;

    if (2 * words->used >= words->slot_count)
        grow(words);
    word = find_word(words, text, length);
    words->used += word->count == 0;
    word->text = text;
    word->length = (uint32_t)length;
    word->count++;
}

static inline const char *skip_to_word(const char *at, const char *end)
{
    while (at < end && !is_word_letter(*at))
        at++;
    return at;
}

static inline const char *skip_word(const char *at, const char *end)
{
    while (at < end && is_word_letter(*at))
        at++;
    return at;
}

void words_count(struct words *words, const char *text, size_t size, unsigned group)
{
    const char *end = text + size, *starts[GROUP_MAX];
    unsigned seen = 0;

    for (const char *at = skip_to_word(text, end); at < end; at = skip_to_word(at, end)) {
        starts[seen++ % group] = at;
        at = skip_word(at, end);
        if (seen >= group)
            add_word(words, starts[seen % group], (size_t)(at - starts[seen % group]));
    }
}

static int more_often(const void *left, const void *right)
{
    const struct word *a = left, *b = right;
    uint32_t shorter = a->length < b->length ? a->length : b->length;

    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->count ? memcmp(a->text, b->text, shorter) : 0;
}

const struct word *words_commonest(struct words *words)
{
    qsort(words->slots, words->slot_count, sizeof(*words->slots), more_often);
    return &words->slots[0];
}

void words_free(struct words *words)
{
    free(words->slots);
    memset(words, 0, sizeof(*words));
}

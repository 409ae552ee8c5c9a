#include "told.h"

#include "../base/grow.h"
#include "../base/index16.h"

#include <string.h>

enum { KIND_SHIFT = 56, WORD_BITS = 64 };

/* Frames that are remembered: some 60 MiB. What is forgotten is told again when it is met. */
enum { FRAMES_MAX = 1 << 21 };

static uint32_t hash(const void *text, size_t count)
{
    const uint8_t *byte = text;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < count; i++)
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    sum = index16_mix(sum);
    return (uint32_t)sum ? (uint32_t)sum : 1;
}

bool told_changes(struct told *told, enum told_kind kind, uint64_t id, const void *text,
                  size_t count)
{
    bool added, changed;
    uint32_t *place = map64_put(&told->texts, (uint64_t)kind << KIND_SHIFT | id, &added);
    uint32_t now = hash(text, count);

    if (!place)
        return true;
    changed = *place != now;
    *place = now;
    return changed;
}

uint32_t told_thread(struct told *told, const struct owner_thread *thread)
{
    bool added;
    uint32_t *place = map64_put(&told->threads, thread->serial, &added);

    if (place && added)
        *place = ++told->thread_count;
    return place ? *place : 0;
}

static bool make_words(struct told *told, uint32_t count)
{
    uint64_t *words;

    if (count <= told->number_words)
        return true;
    words = reallocarray(told->numbers, count, sizeof(*words));
    if (!words)
        return false;
    memset(words + told->number_words, 0, (count - told->number_words) * sizeof(*words));
    told->numbers = words;
    told->number_words = count;
    return true;
}

bool told_number(struct told *told, uint32_t number)
{
    uint64_t bit = UINT64_C(1) << number % WORD_BITS, *word;

    if (!make_words(told, number / WORD_BITS + 1))
        return true;
    word = &told->numbers[number / WORD_BITS];
    if (*word & bit)
        return false;
    *word |= bit;
    return true;
}

static void forget_frames(struct told *told)
{
    map64_free(&told->frames);
    told->frames = (struct map64){ 0 };
    told->waiting_count = 0;
}

void told_frame(struct told *told, uint64_t frame)
{
    uint32_t *place;
    bool added;

    if (told->frames.count >= FRAMES_MAX)
        forget_frames(told);
    if (!GROW(told->waiting, told->waiting_count, told->waiting_capacity) ||
        !(place = map64_put(&told->frames, frame, &added)) || *place != TOLD_FRAME_NEW)
        return;
    *place = TOLD_FRAME_WAITS;
    told->waiting[told->waiting_count++] = frame;
}

void told_frame_done(struct told *told, uint64_t frame)
{
    bool added;
    uint32_t *place = map64_put(&told->frames, frame, &added);

    if (place)
        *place = TOLD_FRAME_DONE;
}

void told_free(struct told *told)
{
    map64_free(&told->texts);
    map64_free(&told->threads);
    map64_free(&told->frames);
    free(told->waiting);
    free(told->numbers);
    *told = (struct told){ 0 };
}

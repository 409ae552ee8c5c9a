#include "kept_stall.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The same walk is done twice: first it measures (base NULL), then it copies. */
struct copy {
    char *base;
    size_t bytes;
    struct word {
        const char *text;
        size_t at; /* where it is in the copy */
    } * words;     /* a hash table: equal strings are stored once */
    uint32_t capacity;
};

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static void *room(struct copy *copy, size_t bytes)
{
    size_t at = (copy->bytes + 7) & ~(size_t)7;

    copy->bytes = at + bytes;
    return copy->base ? copy->base + at : NULL;
}

/* The table is larger than all that come. */
static const char *text_of(struct copy *copy, const char *text)
{
    uint32_t place;

    if (!text)
        return NULL;
    place = hash_of(text) & (copy->capacity - 1);
    while (copy->words[place].text && strcmp(copy->words[place].text, text) != 0)
        place = (place + 1) & (copy->capacity - 1);
    if (!copy->words[place].text) {
        size_t bytes = strlen(text) + 1;

        copy->words[place] = (struct word){ text, copy->bytes };
        if (copy->base)
            memcpy(copy->base + copy->bytes, text, bytes);
        copy->bytes += bytes;
    }
    return copy->base ? copy->base + copy->words[place].at : NULL;
}

static const char *const *texts_of(struct copy *copy, const char *const *from, uint32_t count)
{
    const char **texts = room(copy, count * sizeof(*texts));

    for (uint32_t i = 0; i < count; i++) {
        const char *text = text_of(copy, from[i]);

        if (texts)
            texts[i] = text;
    }
    return texts;
}

static struct stall_place place_of(struct copy *copy, const struct stall_place *from)
{
    return (struct stall_place){ .function = text_of(copy, from->function),
                                 .library = text_of(copy, from->library),
                                 .file = text_of(copy, from->file),
                                 .line = from->line };
}

static const struct stall_run *runs_of(struct copy *copy, const struct stall *from)
{
    struct stall_run *runs = room(copy, from->run_count * sizeof(*runs));

    for (uint32_t i = 0; i < from->run_count; i++) {
        struct stall_run run = from->runs[i];

        run.function = text_of(copy, run.function);
        if (runs)
            runs[i] = run;
    }
    return runs;
}

static bool same_functions(const struct stall_stack *a, const struct stall_stack *b)
{
    if (a->depth != b->depth)
        return false;
    for (uint32_t i = 0; i < a->depth; i++)
        if (a->functions[i] != b->functions[i] && strcmp(a->functions[i], b->functions[i]) != 0)
            return false;
    return true;
}

/* A thread that sleeps shows one stack again and again: it is stored once. */
static const struct stall_stack *stacks_of(struct copy *copy, const struct stall *from)
{
    struct stall_stack *stacks = room(copy, from->stack_count * sizeof(*stacks));
    const char *const *functions = NULL;

    for (uint32_t i = 0; i < from->stack_count; i++) {
        if (!i || !same_functions(&from->stacks[i - 1], &from->stacks[i]))
            functions = texts_of(copy, from->stacks[i].functions, from->stacks[i].depth);
        if (stacks) {
            stacks[i] = from->stacks[i];
            stacks[i].functions = functions;
        }
    }
    return stacks;
}

static void copy_all(struct copy *copy, const struct stall *from, struct stall *to)
{
    *to = *from;
    to->name = text_of(copy, from->name ? from->name : "");
    to->thread_name = text_of(copy, from->thread_name ? from->thread_name : "");
    to->culprit = place_of(copy, &from->culprit);
    to->caller = place_of(copy, &from->caller);
    to->tag = text_of(copy, from->tag);
    to->slice = text_of(copy, from->slice);
    to->prefix = texts_of(copy, from->prefix, from->prefix_count);
    to->runs = runs_of(copy, from);
    to->stacks = stacks_of(copy, from);
}

static uint32_t words_most(const struct stall *from)
{
    uint32_t most = 16 + from->prefix_count + from->run_count, capacity = 64;

    for (uint32_t i = 0; i < from->stack_count; i++)
        most += from->stacks[i].depth;
    while (capacity < 2 * most)
        capacity *= 2;
    return capacity;
}

struct kept_stall *kept_stall_new(const struct stall *from)
{
    struct copy copy = { .bytes = sizeof(struct kept_stall), .capacity = words_most(from) };
    struct kept_stall *kept = NULL;
    struct stall measured;

    copy.words = calloc(copy.capacity, sizeof(*copy.words));
    if (copy.words) {
        copy_all(&copy, from, &measured);
        kept = calloc(1, copy.bytes);
    }
    if (kept) {
        memset(copy.words, 0, copy.capacity * sizeof(*copy.words));
        kept->bytes = copy.bytes;
        kept->references = 1;
        copy.base = (char *)kept;
        copy.bytes = sizeof(*kept);
        copy_all(&copy, from, &kept->stall);
    }
    free(copy.words);
    return kept;
}

struct kept_stall *kept_stall_hold(struct kept_stall *kept)
{
    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
    return kept;
}

void kept_stall_release(struct kept_stall *kept)
{
    if (kept && atomic_fetch_sub_explicit(&kept->references, 1, memory_order_acq_rel) == 1)
        free(kept);
}

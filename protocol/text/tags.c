#include "tags.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static uint32_t hash(const char *name)
{
    uint32_t value = 2166136261u;

    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 16777619u;
    return value;
}

/* The slot that holds name, or the free one where it belongs. */
static uint32_t *slot_of(struct tags *tags, const char *name)
{
    uint32_t mask = tags->slot_count - 1, at = hash(name) & mask;

    while (tags->slots[at] && strcmp(tags->names[tags->slots[at] - 1], name))
        at = (at + 1) & mask;
    return &tags->slots[at];
}

static bool grow_tags(struct tags *tags)
{
    uint32_t slot_count = tags->slot_count ? tags->slot_count * 2 : 32;
    char **names = realloc(tags->names, slot_count / 2 * sizeof(*names));
    uint32_t *slots = calloc(slot_count, sizeof(*slots));

    if (names)
        tags->names = names;
    if (!names || !slots) {
        free(slots);
        return false;
    }
    free(tags->slots);
    tags->slots = slots;
    tags->slot_count = slot_count;
    for (uint32_t i = 0; i < tags->count; i++)
        *slot_of(tags, tags->names[i]) = i + 1;
    return true;
}

static void insert_tag(struct tags *tags, uint32_t *slot, const char *name)
{
    char *copy = strdup(name);

    if (!copy) {
        tags->failed = true;
        return;
    }
    tags->names[tags->count] = copy;
    tags->last = tags->count;
    *slot = ++tags->count;
}

void tags_add(struct tags *tags, const char *name)
{
    uint32_t *slot;

    if (tags->count && !strcmp(tags->names[tags->last], name))
        return;
    if (tags->count * 2 >= tags->slot_count && !grow_tags(tags)) {
        tags->failed = true;
        return;
    }
    slot = slot_of(tags, name);
    if (*slot)
        tags->last = *slot - 1;
    else
        insert_tag(tags, slot, name);
}

void tags_free(struct tags *tags)
{
    for (uint32_t i = 0; i < tags->count; i++)
        free(tags->names[i]);
    free(tags->names);
    free(tags->slots);
    *tags = (struct tags){ 0 };
}

#include "interned.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 64, BYTES_MIN = 1024, ENTRIES_MIN = 32 };

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint32_t hash_of(const char *bytes, size_t size)
{
    uint64_t hash = size, word;

    for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    hash = mix(hash, word);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool grow_slots(struct interned *interned)
{
    uint32_t count = interned->slot_count ? 2 * interned->slot_count : SLOTS_MIN;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (!slots)
        return false;
    for (uint32_t i = 0; i < interned->count; i++) {
        uint32_t at = interned->entries[i].hash & (count - 1);

        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(interned->slots);
    interned->slots = slots;
    interned->slot_count = count;
    return true;
}

static bool grow_entries(struct interned *interned)
{
    uint32_t capacity = interned->entry_capacity ? 2 * interned->entry_capacity : ENTRIES_MIN;
    struct interned_entry *entries =
        realloc(interned->entries, capacity * sizeof(*interned->entries));

    if (!entries)
        return false;
    interned->entries = entries;
    interned->entry_capacity = capacity;
    return true;
}

static bool grow_bytes(struct interned *interned, size_t more)
{
    size_t capacity = interned->capacity ? interned->capacity : BYTES_MIN;
    char *bytes;

    while (capacity - interned->length < more)
        capacity *= 2;
    bytes = realloc(interned->bytes, capacity);
    if (!bytes)
        return false;
    interned->bytes = bytes;
    interned->capacity = capacity;
    return true;
}

/* For one more; slots are at most three quarters full. */
static bool make_room(struct interned *interned, size_t size)
{
    if (interned->count >= interned->slot_count / 4 * 3 && !grow_slots(interned))
        return false;
    if (interned->count == interned->entry_capacity && !grow_entries(interned))
        return false;
    return interned->capacity - interned->length >= size && interned->bytes
               ? true
               : grow_bytes(interned, size);
}

static bool equals(const struct interned *interned, uint32_t number, uint32_t hash,
                   const void *bytes, size_t size)
{
    const struct interned_entry *entry = &interned->entries[number];

    return entry->hash == hash && entry->size == size &&
           (!size || !memcmp(interned->bytes + entry->at, bytes, size));
}

/* Its slot, or the free one where it belongs; there are slots. */
static uint32_t *slot_of(const struct interned *interned, uint32_t hash, const void *bytes,
                         size_t size)
{
    uint32_t mask = interned->slot_count - 1, at = hash & mask;

    while (interned->slots[at] && !equals(interned, interned->slots[at] - 1, hash, bytes, size))
        at = (at + 1) & mask;
    return &interned->slots[at];
}

bool interned_has(const struct interned *interned, const void *bytes, size_t size)
{
    return interned->slot_count && *slot_of(interned, hash_of(bytes, size), bytes, size);
}

uint32_t interned_put(struct interned *interned, const void *bytes, size_t size, bool *added)
{
    uint32_t hash = hash_of(bytes, size), *slot;

    *added = false;
    if (size > UINT32_MAX || !make_room(interned, size)) {
        interned->failed = true;
        return 0;
    }
    slot = slot_of(interned, hash, bytes, size);
    if (*slot)
        return *slot - 1;
    memcpy(interned->bytes + interned->length, bytes, size);
    interned->entries[interned->count] =
        (struct interned_entry){ interned->length, (uint32_t)size, hash };
    interned->length += size;
    *slot = ++interned->count;
    *added = true;
    return interned->count - 1;
}

uint32_t interned_string(struct interned *interned, const char *text)
{
    bool added;

    if (!interned->count)
        interned_put(interned, "", 0, &added);
    return text ? interned_put(interned, text, strlen(text), &added) : 0;
}

const char *interned_text(const struct interned *interned, uint32_t number, size_t *size)
{
    *size = interned->entries[number].size;
    return interned->bytes + interned->entries[number].at;
}

void interned_free(struct interned *interned)
{
    free(interned->bytes);
    free(interned->entries);
    free(interned->slots);
    *interned = (struct interned){ 0 };
}

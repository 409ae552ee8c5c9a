#include "text_pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_AT_FIRST = 64 };

/* FNV-1a */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
    return hash ^ hash >> 32;
}

static char **place_of(char **texts, uint32_t capacity, const char *text)
{
    uint32_t place = (uint32_t)hash_of(text) & (capacity - 1);

    while (texts[place] && strcmp(texts[place], text) != 0)
        place = (place + 1) & (capacity - 1);
    return &texts[place];
}

static bool grow_pool(struct text_pool *pool)
{
    uint32_t capacity = pool->capacity ? pool->capacity * 2 : CAPACITY_AT_FIRST;
    char **texts = capacity ? calloc(capacity, sizeof(*texts)) : NULL;

    if (!texts)
        return false;
    for (uint32_t i = 0; i < pool->capacity; i++)
        if (pool->texts[i])
            *place_of(texts, capacity, pool->texts[i]) = pool->texts[i];
    free(pool->texts);
    pool->bytes += (capacity - pool->capacity) * sizeof(*texts);
    pool->texts = texts;
    pool->capacity = capacity;
    return true;
}

const char *text_pool_keep(struct text_pool *pool, const char *text)
{
    char **place;

    if (pool->count * 2 >= pool->capacity && !grow_pool(pool))
        return NULL;
    place = place_of(pool->texts, pool->capacity, text);
    if (!*place && (*place = strdup(text))) {
        pool->count++;
        pool->bytes += strlen(text) + 1;
    }
    return *place;
}

void text_pool_free(struct text_pool *pool)
{
    for (uint32_t i = 0; i < pool->capacity; i++)
        free(pool->texts[i]);
    free(pool->texts);
    *pool = (struct text_pool){ 0 };
}

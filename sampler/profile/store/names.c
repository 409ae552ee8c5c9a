#include "names.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/index16.h"
#include "../base/map64.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_NAMES = 1024, BLOCKS = NAMES_MAX / BLOCK_NAMES };

struct names {
    char **blocks[BLOCKS];  /* never move: read without a lock */
    _Atomic uint32_t count; /* numbers [1, count) are there */
    size_t bytes;           /* of all names; names_number only */
    struct map64 by_hash;   /* hash, or what follows it when another name has it -> number */
};

int names_new(struct names **out)
{
    struct names *names = calloc(1, sizeof(*names));

    if (!names)
        return -ISOSCOPE_NO_MEMORY;
    atomic_init(&names->count, 1);
    *out = names;
    return 0;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (uint32_t number = 1; number < atomic_load(&names->count); number++)
        free(names->blocks[number / BLOCK_NAMES][number % BLOCK_NAMES]);
    for (uint32_t block = 0; block < BLOCKS; block++)
        free(names->blocks[block]);
    map64_free(&names->by_hash);
    free(names);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return index16_mix(hash);
}

/* The next number, for this name; 0: no room. */
static uint32_t add_name(struct names *names, const char *name)
{
    uint32_t number = atomic_load_explicit(&names->count, memory_order_relaxed);
    char ***block = &names->blocks[number / BLOCK_NAMES];
    size_t bytes = strlen(name) + 1;
    char *copy;

    if (number >= NAMES_MAX || bytes > NAMES_BYTES_MAX - names->bytes)
        return 0;
    if (!*block && !(*block = calloc(BLOCK_NAMES, sizeof(**block))))
        return 0;
    copy = strdup(name);
    if (!copy)
        return 0;
    (*block)[number % BLOCK_NAMES] = copy;
    names->bytes += bytes;
    atomic_store_explicit(&names->count, number + 1, memory_order_release);
    return number;
}

uint32_t names_number(struct names *names, const char *name)
{
    uint64_t hash = hash_text(name);
    uint32_t number, *place;
    bool added;

    for (; (number = map64_find(&names->by_hash, hash)); hash++)
        if (!strcmp(names_text(names, number), name))
            return number;
    number = add_name(names, name);
    /* What there was no room for takes none in the index either. */
    if (number && (place = map64_put(&names->by_hash, hash, &added)))
        *place = number;
    return number;
}

const char *names_text(const struct names *names, uint32_t number)
{
    if (number == 0 || number >= atomic_load_explicit(&names->count, memory_order_acquire))
        return NULL;
    return names->blocks[number / BLOCK_NAMES][number % BLOCK_NAMES];
}

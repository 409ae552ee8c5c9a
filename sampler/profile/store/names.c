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
    for (uint32_t block = 0; block < BLOCKS; block++) {
        for (uint32_t i = 0; names->blocks[block] && i < BLOCK_NAMES; i++)
            free(names->blocks[block][i]);
        free(names->blocks[block]);
    }
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

/* False: the number is taken, or there is no room. */
static bool add_name(struct names *names, uint32_t number, const char *name)
{
    size_t bytes = strlen(name) + 1;
    char ***block, *copy;

    if (number >= NAMES_MAX || bytes > NAMES_BYTES_MAX - names->bytes)
        return false;
    block = &names->blocks[number / BLOCK_NAMES];
    if (!*block && !(*block = calloc(BLOCK_NAMES, sizeof(**block))))
        return false;
    if ((*block)[number % BLOCK_NAMES] || !(copy = strdup(name)))
        return false;
    (*block)[number % BLOCK_NAMES] = copy;
    names->bytes += bytes;
    if (number >= names_end(names))
        atomic_store_explicit(&names->count, number + 1, memory_order_release);
    return true;
}

/* Where its number stands or belongs. */
static uint64_t find_hash(const struct names *names, const char *name, uint32_t *number)
{
    uint64_t hash = hash_text(name);

    while ((*number = map64_find(&names->by_hash, hash)) &&
           strcmp(names_text(names, *number), name))
        hash++;
    return hash;
}

static void index_name(struct names *names, uint64_t hash, uint32_t number)
{
    uint32_t *place;
    bool added;

    if ((place = map64_put(&names->by_hash, hash, &added)))
        *place = number;
}

uint32_t names_number(struct names *names, const char *name)
{
    uint32_t number;
    uint64_t hash = find_hash(names, name, &number);

    if (number)
        return number;
    number = names_end(names);
    /* What there was no room for takes none in the index either. */
    if (!add_name(names, number, name))
        return 0;
    index_name(names, hash, number);
    return number;
}

bool names_put(struct names *names, uint32_t number, const char *name)
{
    uint32_t known;
    uint64_t hash = find_hash(names, name, &known);

    if (!number || !add_name(names, number, name))
        return false;
    if (!known)
        index_name(names, hash, number);
    return true;
}

uint32_t names_end(const struct names *names)
{
    return atomic_load_explicit(&names->count, memory_order_acquire);
}

const char *names_text(const struct names *names, uint32_t number)
{
    if (number == 0 || number >= names_end(names) || !names->blocks[number / BLOCK_NAMES])
        return NULL;
    return names->blocks[number / BLOCK_NAMES][number % BLOCK_NAMES];
}

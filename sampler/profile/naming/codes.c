#include "codes.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/index16.h"
#include "../base/map64.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_CODES = 1024, BLOCKS = CODES_MAX / BLOCK_CODES };

/* Its texts stand behind it. */
struct code {
    struct feed_code_text text;
    char bytes[];
};

struct codes {
    struct code **blocks[BLOCKS]; /* never move: read without a lock */
    _Atomic uint32_t count;       /* numbers [1, count) are there */
    /* codes_number only */
    size_t bytes;
    struct map64 by_hash; /* hash, or what follows it when another code has it -> number */
};

int codes_new(struct codes **out)
{
    struct codes *codes = calloc(1, sizeof(*codes));

    if (!codes)
        return -ISOSCOPE_NO_MEMORY;
    atomic_init(&codes->count, 1);
    *out = codes;
    return 0;
}

void codes_free(struct codes *codes)
{
    if (!codes)
        return;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        for (uint32_t i = 0; codes->blocks[block] && i < BLOCK_CODES; i++)
            free(codes->blocks[block][i]);
        free(codes->blocks[block]);
    }
    map64_free(&codes->by_hash);
    free(codes);
}

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return index16_mix(hash);
}

static uint64_t hash_of(const struct feed_code_text *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ text->first_line;

    hash = hash_bytes(hash ^ (uint64_t)text->runtime << 32 ^ (uint64_t)text->lines << 40,
                      text->name, text->name_bytes);
    hash = hash_bytes(hash, text->file, text->file_bytes);
    return hash_bytes(hash, text->table, text->table_bytes);
}

/* As a kept text has it: a 0 would end it. */
static char kept_byte(char byte)
{
    return byte ? byte : '?';
}

static bool same_text(const char *kept, const char *given, uint32_t bytes)
{
    uint32_t i = 0;

    while (i < bytes && kept[i] == kept_byte(given[i]))
        i++;
    return i == bytes;
}

static bool same_code(const struct feed_code_text *kept, const struct feed_code_text *given)
{
    return kept->runtime == given->runtime && kept->lines == given->lines &&
           kept->first_line == given->first_line && kept->name_bytes == given->name_bytes &&
           kept->file_bytes == given->file_bytes && kept->table_bytes == given->table_bytes &&
           same_text(kept->name, given->name, kept->name_bytes) &&
           same_text(kept->file, given->file, kept->file_bytes) &&
           (!kept->table_bytes || !memcmp(kept->table, given->table, kept->table_bytes));
}

static char *put_text(char *to, const char *from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = kept_byte(from[i]);
    to[bytes] = 0;
    return to + bytes + 1;
}

static struct code *copy_of(const struct feed_code_text *text)
{
    size_t bytes = (size_t)text->name_bytes + text->file_bytes + text->table_bytes + 2;
    struct code *code = malloc(sizeof(*code) + bytes);
    char *file, *table;

    if (!code)
        return NULL;
    file = put_text(code->bytes, text->name, text->name_bytes);
    table = put_text(file, text->file, text->file_bytes);
    if (text->table_bytes)
        memcpy(table, text->table, text->table_bytes);
    code->text = *text;
    code->text.name = code->bytes;
    code->text.file = file;
    code->text.table = (const uint8_t *)table;
    return code;
}

static struct code *code_at(const struct codes *codes, uint32_t number)
{
    return codes->blocks[number / BLOCK_CODES][number % BLOCK_CODES];
}

/* 0: no room. */
static uint32_t add_code(struct codes *codes, const struct feed_code_text *text)
{
    uint32_t number = atomic_load_explicit(&codes->count, memory_order_relaxed);
    size_t bytes = (size_t)text->name_bytes + text->file_bytes + text->table_bytes;
    struct code ***block = &codes->blocks[number / BLOCK_CODES % BLOCKS];
    struct code *code;

    if (number >= CODES_MAX || bytes > CODES_BYTES_MAX - codes->bytes ||
        (!*block && !(*block = calloc(BLOCK_CODES, sizeof(**block)))) || !(code = copy_of(text)))
        return 0;
    (*block)[number % BLOCK_CODES] = code;
    codes->bytes += bytes;
    atomic_store_explicit(&codes->count, number + 1, memory_order_release);
    return number;
}

uint32_t codes_number(struct codes *codes, const struct feed_code_text *text)
{
    for (uint64_t hash = hash_of(text);; hash++) {
        bool added;
        uint32_t *number = map64_put(&codes->by_hash, hash, &added);

        if (!number)
            return 0;
        if (!*number)
            return *number = add_code(codes, text);
        if (same_code(&code_at(codes, *number)->text, text))
            return *number;
    }
}

bool codes_get(const struct codes *codes, uint32_t number, struct feed_code_text *out)
{
    if (!number || number >= atomic_load_explicit(&codes->count, memory_order_acquire))
        return false;
    *out = code_at(codes, number)->text;
    return true;
}

#include "ruby_lines.h"

#include <string.h>

enum {
    COUNTED = 54, /* positions whose counts are there */
    COUNTS_IN_WORD = 9,
    COUNT_BITS = 7,
    BLOCK_BITS = 512,
    BLOCK_WORDS = 10, /* its count, counts in it, bits */
    BITS_BEGIN = 2,
    HEAD_WORDS = COUNTED / COUNTS_IN_WORD,
    PAIRS_MAX = FEED_CODE_TABLE_MAX / 8
};

struct table {
    struct runtime_scan *scan;
    uint64_t entries, entry_bytes, count;
    uint32_t pairs;
    uint32_t line; /* of the last pair */
};

/* From this position on it is the entry's line. */
static SIGNAL_SAFE bool put_pair(struct table *table, uint32_t position, uint32_t entry)
{
    uint32_t line;

    if (entry >= table->count || table->pairs >= PAIRS_MAX ||
        !guarded_read(&table->scan->memory, &line, table->entries + entry * table->entry_bytes,
                      sizeof line))
        return false;
    if (table->pairs && line == table->line)
        return true;
    table->line = line;
    memcpy(&table->scan->texts->table[(size_t)table->pairs * 8], &position, sizeof position);
    memcpy(&table->scan->texts->table[(size_t)table->pairs * 8 + 4], &line, sizeof line);
    table->pairs++;
    return true;
}

/* found: entries that were put. */
static SIGNAL_SAFE bool put_counted(struct table *table, uint64_t index, uint32_t positions,
                                    uint32_t *found)
{
    uint64_t counts[HEAD_WORDS];

    if (!guarded_read(&table->scan->memory, counts, index, sizeof counts))
        return false;
    for (uint32_t at = 0; at < COUNTED && at < positions; at++) {
        uint32_t count = counts[at / COUNTS_IN_WORD] >> at % COUNTS_IN_WORD * COUNT_BITS &
                         ((1 << COUNT_BITS) - 1);

        if (count == *found)
            continue;
        if (count != *found + 1 || !put_pair(table, at, *found))
            return false;
        *found = count;
    }
    return true;
}

static SIGNAL_SAFE bool put_block(struct table *table, uint64_t block, uint32_t first,
                                  uint32_t positions, uint32_t *found)
{
    uint64_t words[BLOCK_WORDS];

    if (!guarded_read(&table->scan->memory, words, block, sizeof words))
        return false;
    for (uint32_t at = 0; at < BLOCK_BITS && first + at < positions; at++) {
        if (!(words[BITS_BEGIN + at / 64] >> at % 64 & 1))
            continue;
        if (!put_pair(table, first + at, *found))
            return false;
        ++*found;
    }
    return true;
}

static SIGNAL_SAFE bool put_indexed(struct table *table, uint64_t index, uint32_t positions)
{
    uint64_t block = index + HEAD_WORDS * sizeof(uint64_t);
    uint32_t found = 0;

    if (!put_counted(table, index, positions, &found))
        return false;
    for (uint32_t first = COUNTED; first < positions; first += BLOCK_BITS) {
        if (!put_block(table, block, first, positions, &found))
            return false;
        block += BLOCK_WORDS * sizeof(uint64_t);
    }
    return true;
}

uint32_t ruby_lines(struct runtime_scan *scan, uint32_t entry, uint64_t body,
                    uint32_t words_of_code)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct {
        uint64_t entries, positions, count, index;
    } info;
    struct table table = { .scan = scan, .entry_bytes = words[RUBY_LINE_BYTES] };

    if (words_of_code > FEED_NO_POSITION ||
        !guarded_read(&scan->memory, &info, body + words[RUBY_BODY_LINES], sizeof info))
        return 0;
    table.entries = info.entries;
    table.count = (uint32_t)info.count;
    if (table.count == 1 ? !put_pair(&table, 0, 0)
                         : !put_indexed(&table, info.index, words_of_code))
        return 0;
    return table.pairs * 8;
}

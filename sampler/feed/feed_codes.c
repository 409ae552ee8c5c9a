#include "feed_codes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { CODE_PROBES_MAX = 64 };

static_assert(sizeof(struct feed_code) + FEED_CODE_NAME_MAX + FEED_CODE_FILE_MAX +
                      FEED_CODE_TABLE_MAX + FEED_CODE_ALIGN <=
                  FEED_CODES_FIRST_BYTES - FEED_CODE_INDEX_BYTES,
              "the largest code fits into what is mapped first");

/* A letter of UTF-8 is not cut in two. */
SIGNAL_SAFE_INLINE uint32_t kept_bytes(const char *text, uint32_t bytes, uint32_t max)
{
    if (bytes <= max)
        return bytes;
    for (bytes = max; bytes && ((uint8_t)text[bytes] & 0xc0) == 0x80;)
        bytes--;
    return bytes ? bytes : max;
}

SIGNAL_SAFE_INLINE uint32_t hash_bytes(uint32_t hash, const void *bytes, uint32_t count)
{
    uint64_t sum = hash, word;
    const uint8_t *at = bytes;

    for (; count >= sizeof word; count -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * UINT64_C(0xff51afd7ed558ccd);
        sum ^= sum >> 32;
    }
    for (; count; count--)
        sum = (sum ^ *at++) * UINT64_C(0x100000001b3);
    return (uint32_t)(sum ^ sum >> 32);
}

/* Of all that comes behind it, in the order in which it stands there. */
static SIGNAL_SAFE uint32_t hash_of(const struct feed_code *head, const char *name,
                                    const char *file, const uint8_t *table)
{
    const uint32_t from = offsetof(struct feed_code, runtime);
    uint32_t hash = hash_bytes(head->size_bytes, (const char *)head + from, sizeof *head - from);

    hash = hash_bytes(hash, name, head->name_bytes);
    hash = hash_bytes(hash, file, head->file_bytes);
    return hash_bytes(hash, table, head->table_bytes);
}

bool feed_code_is_whole(const struct feed_code *head, const char *bytes)
{
    const char *file = bytes + head->name_bytes;

    return head->hash == hash_of(head, bytes, file, (const uint8_t *)file + head->file_bytes);
}

/* text as it will be kept; its parts are not NULL then. */
SIGNAL_SAFE_INLINE void make_head(struct feed_code *head, struct feed_code_text *text)
{
    uint32_t bytes;

    text->name_bytes = kept_bytes(text->name, text->name_bytes, FEED_CODE_NAME_MAX);
    text->file_bytes = kept_bytes(text->file, text->file_bytes, FEED_CODE_FILE_MAX);
    if (text->table_bytes > FEED_CODE_TABLE_MAX)
        text->table_bytes = 0;
    text->name = text->name_bytes ? text->name : "";
    text->file = text->file_bytes ? text->file : "";
    text->table = text->table_bytes ? text->table : (const uint8_t *)"";
    memset(head, 0, sizeof *head);
    head->runtime = (uint8_t)text->runtime;
    head->lines = (uint8_t)text->lines;
    head->name_bytes = (uint16_t)text->name_bytes;
    head->first_line = text->first_line;
    head->file_bytes = text->file_bytes;
    head->table_bytes = text->table_bytes;
    bytes = (uint32_t)sizeof *head + text->name_bytes + text->file_bytes + text->table_bytes;
    head->size_bytes = (bytes + FEED_CODE_ALIGN - 1) & ~(uint32_t)(FEED_CODE_ALIGN - 1);
    head->hash = hash_of(head, text->name, text->file, text->table);
}

/* So many bytes of codes, in one piece and mapped; NULL: they are not in codes. The service could
 * have written here: a place is believed only where it lies inside. */
SIGNAL_SAFE_INLINE uint8_t *bytes_at(struct feed_writer *writer, uint64_t place, uint32_t bytes)
{
    const uint64_t offset = FEED_CODE_INDEX_BYTES + place;

    return offset < writer->codes.bytes && bytes <= writer->codes.bytes - offset &&
                   bytes <= part_left(&writer->codes, offset) && part_reach(&writer->codes, offset)
               ? part_at(&writer->codes, offset)
               : NULL;
}

SIGNAL_SAFE_INLINE bool same_code(struct feed_writer *writer, uint32_t id,
                                  const struct feed_code *head, const struct feed_code_text *text)
{
    const uint8_t *at = bytes_at(writer, (uint64_t)id * FEED_CODE_ALIGN, head->size_bytes);

    if (!at || memcmp(at, head, sizeof *head) != 0)
        return false;
    at += sizeof *head;
    return memcmp(at, text->name, head->name_bytes) == 0 &&
           memcmp(at + head->name_bytes, text->file, head->file_bytes) == 0 &&
           memcmp(at + head->name_bytes + head->file_bytes, text->table, head->table_bytes) == 0;
}

/* Each takes its own bytes first, as names do. What does not fit into a window begins the next. */
SIGNAL_SAFE_INLINE uint32_t take_place(struct feed_writer *writer, uint32_t bytes)
{
    struct feed_status *status = &writer->header->status;
    const uint64_t room = writer->codes.bytes - FEED_CODE_INDEX_BYTES;
    uint32_t used = atomic_load_explicit(&status->codes_used, memory_order_relaxed);
    uint64_t place;

    do {
        uint64_t left;

        if (used >= room || used % FEED_CODE_ALIGN)
            return 0;
        left = part_left(&writer->codes, FEED_CODE_INDEX_BYTES + used);
        place = bytes <= left ? used : used + left;
        if (place >= room || bytes > room - place)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&status->codes_used, &used,
                                                    (uint32_t)place + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return (uint32_t)place;
}

SIGNAL_SAFE_INLINE uint32_t code_add(struct feed_writer *writer, const struct feed_code *head,
                                     const struct feed_code_text *text)
{
    uint32_t place = take_place(writer, head->size_bytes);
    uint8_t *at = place ? bytes_at(writer, place, head->size_bytes) : NULL;

    if (!at)
        return 0;
    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    memcpy(at, text->name, head->name_bytes);
    memcpy(at + head->name_bytes, text->file, head->file_bytes);
    memcpy(at + head->name_bytes + head->file_bytes, text->table, head->table_bytes);
    return place / FEED_CODE_ALIGN;
}

/* 0: no room, in the bytes or in the index. */
SIGNAL_SAFE_INLINE uint32_t code_id(struct feed_writer *writer, const struct feed_code *head,
                                    const struct feed_code_text *text)
{
    uint32_t slot = head->hash, added = 0;
    _Atomic uint32_t *index;

    if (!writer->codes.bytes || !part_reach(&writer->codes, 0))
        return 0;
    index = (_Atomic uint32_t *)part_at(&writer->codes, 0);
    for (int probe = 0; probe < CODE_PROBES_MAX; probe++) {
        _Atomic uint32_t *entry = &index[slot++ % FEED_CODE_INDEX_SLOTS];
        uint32_t id = atomic_load_explicit(entry, memory_order_acquire);

        if (!id) {
            if (!added)
                added = code_add(writer, head, text);
            if (!added || atomic_compare_exchange_strong_explicit(
                              entry, &id, added, memory_order_acq_rel, memory_order_acquire))
                return added;
        }
        if (same_code(writer, id, head, text))
            return id;
    }
    return added ? added : code_add(writer, head, text);
}

uint32_t feed_writer_code(struct feed_writer *writer, const struct feed_code_text *text)
{
    struct feed_code_text kept = *text;
    struct feed_code head;
    uint32_t id;

    make_head(&head, &kept);
    id = code_id(writer, &head, &kept);
    if (!id)
        atomic_fetch_add_explicit(&writer->header->status.codes_full, 1, memory_order_relaxed);
    return id;
}

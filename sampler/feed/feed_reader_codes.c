#include "feed_codes.h"
#include "feed_reader_state.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static bool is_believable(const struct feed_code *head)
{
    return head->size_bytes % FEED_CODE_ALIGN == 0 && head->runtime < FEED_RUNTIME_KIND_COUNT &&
           head->lines < FEED_LINES_COUNT && head->name_bytes <= FEED_CODE_NAME_MAX &&
           head->file_bytes <= FEED_CODE_FILE_MAX && head->table_bytes <= FEED_CODE_TABLE_MAX &&
           sizeof *head + head->name_bytes + head->file_bytes + head->table_bytes <=
               head->size_bytes &&
           head->size_bytes <= FEED_CODE_BYTES_MAX;
}

/* The head is copied once, and believed as it was copied. */
static bool copy_code(const struct feed_reader *reader, uint32_t id, uint8_t *buffer,
                      struct feed_code *head)
{
    const uint64_t place = (uint64_t)id * FEED_CODE_ALIGN, room = reader->layout.codes_bytes;

    if (!id || place >= room || room - place < sizeof *head)
        return false;
    memcpy(head, reader->codes + place, sizeof *head);
    if (!is_believable(head) || head->size_bytes > room - place)
        return false;
    memcpy(buffer, reader->codes + place + sizeof *head, head->size_bytes - sizeof *head);
    return feed_code_is_whole(head, (const char *)buffer);
}

bool feed_reader_code(struct feed_reader *reader, uint32_t id, uint8_t *buffer,
                      struct feed_code_text *out)
{
    struct feed_code head;

    if (!copy_code(reader, id, buffer, &head)) {
        reader->corrupt++;
        return false;
    }
    *out = (struct feed_code_text){
        .runtime = head.runtime,
        .lines = head.lines,
        .name = (const char *)buffer,
        .file = (const char *)buffer + head.name_bytes,
        .table = buffer + head.name_bytes + head.file_bytes,
        .name_bytes = head.name_bytes,
        .file_bytes = head.file_bytes,
        .table_bytes = head.table_bytes,
        .first_line = head.first_line,
    };
    return true;
}

bool feed_reader_runtime(struct feed_reader *reader, const struct feed_runtime *runtime)
{
    struct feed_control *control = &reader->shared->control;
    uint32_t used = atomic_load_explicit(&control->runtimes_used, memory_order_relaxed);
    const size_t from = offsetof(struct feed_runtime, kind);
    struct feed_runtime *entry;

    if (used >= FEED_RUNTIMES_MAX)
        return false;
    entry = &reader->runtimes[used];
    memcpy((char *)entry + from, (const char *)runtime + from, sizeof *entry - from);
    atomic_store_explicit(&entry->ready, 1, memory_order_release);
    atomic_store_explicit(&control->runtimes_used, used + 1, memory_order_release);
    return true;
}

void feed_reader_wants(struct feed_reader *reader, uint32_t wants)
{
    atomic_store_explicit(&reader->shared->control.wants, wants, memory_order_relaxed);
}

#include "loops_reader.h"

#include "../base/grow.h"
#include "../loops/kept_loops.h"
#include "format/loop_entry.h"
#include "table_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* NULL: no memory, and the entry fails. */
static struct kept_loops *kept_of(struct session_reader *reader, struct entry *entry)
{
    struct profile *profile = reader->profile;

    if (!profile->kept_loops)
        profile->kept_loops = calloc(1, sizeof(*profile->kept_loops));
    if (!profile->kept_loops)
        entry_fail(entry, "out of memory");
    return profile->kept_loops;
}

void loops_reader_begin(struct session_reader *reader)
{
    const struct kept_loops *kept = reader->profile->kept_loops;

    for (uint32_t i = 0; kept && i < kept->loop_count; i++)
        if (kept->loops[i].number > reader->first_loop)
            reader->first_loop = kept->loops[i].number;
    reader->first_unwatched = kept ? kept->unwatched_count : 0;
}

uint32_t loops_reader_number(const struct session_reader *reader, uint32_t number)
{
    return number ? reader->first_loop + number : 0;
}

/* The profile's id of it. */
static uint64_t process_of(struct session_reader *reader, struct entry *entry, uint64_t id)
{
    uint64_t process_id = entry->bad ? 0 : table_reader_process(reader, id);

    if (!process_id)
        entry_fail(entry, "process %" PRIu64 " is not there", id);
    return process_id;
}

static void free_texts(const struct loop_info *loop)
{
    free((char *)loop->name);
    free((char *)loop->thread_name);
}

/* The one that has its number, or a new one. NULL: there is no room. */
static struct loop_info *place_of(struct session_reader *reader, struct kept_loops *kept,
                                  uint32_t number)
{
    bool added;
    uint32_t *place = map64_put(&reader->loops, number, &added);

    if (!place)
        return NULL;
    if (*place)
        return &kept->loops[*place - 1];
    if (kept->loop_count == KEPT_LOOPS_MAX ||
        !GROW(kept->loops, kept->loop_count, kept->loop_capacity))
        return NULL;
    kept->loops[kept->loop_count] = (struct loop_info){ 0 };
    *place = ++kept->loop_count;
    return &kept->loops[*place - 1];
}

static void add_loop(struct session_reader *reader, struct kept_loops *kept, struct entry *entry,
                     struct loop_info *loop)
{
    struct loop_info *place;

    loop->number = loops_reader_number(reader, loop->number);
    loop->name = strdup(loop->name ? loop->name : "");
    loop->thread_name = strdup(loop->thread_name ? loop->thread_name : "");
    place = loop->name && loop->thread_name ? place_of(reader, kept, loop->number) : NULL;
    if (!place) {
        free_texts(loop);
        entry_fail(entry, "there is no room for another loop");
        return;
    }
    free_texts(place);
    *place = *loop;
}

static void read_loop(struct session_reader *reader, struct kept_loops *kept, struct entry *entry)
{
    struct loop_info loop;

    loop_entry_read(entry, &loop);
    if (!entry->bad)
        loop.process_id = process_of(reader, entry, loop.process_id);
    if (!entry->bad)
        add_loop(reader, kept, entry, &loop);
}

static void read_unwatched(struct session_reader *reader, struct kept_loops *kept,
                           struct entry *entry)
{
    struct unwatched_thread thread;

    unwatched_entry_read(entry, &thread);
    if (!entry->bad)
        thread.process_id = process_of(reader, entry, thread.process_id);
    if (entry->bad)
        return;
    if (kept->unwatched_count == KEPT_UNWATCHED_MAX ||
        !GROW(kept->unwatched, kept->unwatched_count, kept->unwatched_capacity))
        entry_fail(entry, "there is no room for another thread that is not watched");
    else
        kept->unwatched[kept->unwatched_count++] = thread;
}

static int64_t aligned_us(const struct session_reader *reader, int64_t us)
{
    int64_t aligned = us + reader->archive->shift_us;

    return aligned > 0 ? aligned : 0;
}

static void read_high(struct session_reader *reader, struct kept_loops *kept, struct entry *entry)
{
    struct cpu_high high;

    cpu_high_entry_read(entry, &high);
    if (!entry->bad)
        high.process_id = process_of(reader, entry, high.process_id);
    if (entry->bad)
        return;
    high.from_us = aligned_us(reader, high.from_us);
    high.to_us = aligned_us(reader, high.to_us);
    high.number = kept->high_count + 1u;
    if (kept->high_count == KEPT_HIGHS_MAX ||
        !GROW(kept->highs, kept->high_count, kept->high_capacity))
        entry_fail(entry, "there is no room for another time of high CPU use");
    else
        kept->highs[kept->high_count++] = high;
}

/* Each object of a list. */
static void read_each(struct session_reader *reader, struct kept_loops *kept, struct entry *entry,
                      const char *name,
                      void (*read)(struct session_reader *reader, struct kept_loops *kept,
                                   struct entry *entry))
{
    const json_t *list = entry_list(entry, name);

    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++) {
        struct entry one = entry_of(json_array_get(list, i), entry->reason);

        if (!one.bad)
            read(reader, kept, &one);
        entry->bad |= one.bad;
    }
}

/* Several files were asked for the same: the first one's stay. */
static void read_settings(struct session_reader *reader, struct kept_loops *kept,
                          struct entry *around)
{
    struct entry entry = *around;
    struct stall_settings settings;

    entry.object = entry_object(around, "settings");
    if (!entry.object)
        return;
    loop_settings_read(&entry, &settings);
    around->bad |= entry.bad;
    if (!entry.bad && reader->keep)
        kept->settings = settings;
}

void loops_reader_loops(struct session_reader *reader, struct entry *entry)
{
    struct kept_loops *kept = kept_of(reader, entry);

    if (!kept)
        return;
    read_settings(reader, kept, entry);
    read_each(reader, kept, entry, "loops", read_loop);
    if (json_object_get(entry->object, "unwatched"))
        kept->unwatched_count = reader->first_unwatched;
    read_each(reader, kept, entry, "unwatched", read_unwatched);
    read_each(reader, kept, entry, "cpuHigh", read_high);
}

#include "table_reader.h"

#include "../base/grow.h"
#include "../events/event_store.h"
#include "../intake/processes.h"
#include "facts_writer.h"
#include "format/module_entry.h"
#include "format/process_entry.h"

#include <inttypes.h>

static struct reader_process *find_process(const struct session_reader *reader, uint64_t id)
{
    uint32_t place = map64_find(&reader->processes, id);

    return place ? &reader->process_list[place - 1] : NULL;
}

uint64_t table_reader_process(const struct session_reader *reader, uint64_t id)
{
    const struct reader_process *process = find_process(reader, id);

    return process ? process->id : 0;
}

static void read_met(struct session_reader *reader, struct entry *entry, struct module_set *met)
{
    const json_t *list = entry_list(entry, "modules");

    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++) {
        int64_t number = entry_int_at(entry, "modules", list, i, 1, MODULES_MAX);
        uint32_t here = reader->archive->numbers.modules[number];

        if (here)
            module_set_add(met, here);
    }
}

static void shift_times(const struct session_reader *reader, struct process_info *info)
{
    info->start_us += reader->archive->shift_us;
    info->start_us = info->start_us > 0 ? info->start_us : 0;
    if (info->end_us)
        info->end_us += reader->archive->shift_us;
    info->end_us = info->end_us > 0 ? info->end_us : 0;
}

static void add_process(struct session_reader *reader, struct entry *entry,
                        const struct process_saved *saved)
{
    struct reader_process process = { 0 };
    uint32_t *place;
    bool added;

    if (!GROW(reader->process_list, reader->process_count, reader->process_capacity) ||
        processes_restore(reader->profile->processes, saved, &process.owner) < 0 ||
        !(place = map64_put(&reader->processes, saved->info.id, &added))) {
        entry_fail(entry, "out of memory");
        return;
    }
    process.id = process.owner->process_id;
    reader->process_list[reader->process_count] = process;
    *place = ++reader->process_count;
}

static void read_process(struct session_reader *reader, struct entry *entry)
{
    struct process_saved saved = { 0 };
    const struct reader_process *there;

    process_entry_read(entry, &saved);
    read_met(reader, entry, &saved.met);
    shift_times(reader, &saved.info);
    if (saved.info.end_us > reader->end_us)
        reader->end_us = saved.info.end_us;
    if (!entry->bad) {
        there = find_process(reader, saved.info.id);
        if (there)
            processes_restore_again(reader->profile->processes, there->id, &saved);
        else
            add_process(reader, entry, &saved);
    }
    module_set_free(&saved.met);
}

/* Each object of a list. */
static void read_each(struct session_reader *reader, struct entry *entry, const char *name,
                      void (*read)(struct session_reader *reader, struct entry *entry))
{
    const json_t *list = entry_list(entry, name);

    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++) {
        struct entry each = entry_of(json_array_get(list, i), entry->reason);

        if (!each.bad)
            read(reader, &each);
        entry->bad = each.bad;
    }
}

void table_reader_processes(struct session_reader *reader, struct entry *entry)
{
    read_each(reader, entry, "processes", read_process);
}

static enum module_offsets offsets_of(const struct module *module)
{
    if (module->script)
        return OFFSETS_CODES;
    return atomic_load(&module->named) ? OFFSETS_NAMES : OFFSETS_ADDRESSES;
}

static void read_module(struct session_reader *reader, struct entry *entry)
{
    struct frame_numbers *numbers = &reader->archive->numbers;
    enum module_keeping keeping =
        (reader->keep ? MODULE_KEEP_NUMBER : 0) | (reader->is_open ? MODULE_OPEN : 0);
    uint32_t number, here = module_entry_read(entry, reader->profile->registry, keeping, &number);

    if (entry->bad)
        return;
    if (numbers->modules[number] && numbers->modules[number] != here) {
        entry_fail(entry, "module %" PRIu32 " becomes another one", number);
        return;
    }
    numbers->modules[number] = (uint16_t)here;
    numbers->offsets[number] = offsets_of(registry_module(reader->profile->registry, here));
}

void table_reader_modules(struct session_reader *reader, struct entry *entry)
{
    read_each(reader, entry, "modules", read_module);
}

static void add_thread(struct session_reader *reader, struct entry *entry, uint32_t *place,
                       struct owner *owner, int32_t tid, const char *name)
{
    struct reader_thread *thread;

    if (!place || !GROW(reader->thread_list, reader->thread_count, reader->thread_capacity)) {
        entry_fail(entry, "out of memory");
        return;
    }
    thread = &reader->thread_list[reader->thread_count];
    *thread = (struct reader_thread){ 0 };
    if (owner_thread_new(&thread->of[SAMPLES_OF_TIME], owner, tid, name) < 0) {
        entry_fail(entry, "out of memory");
        return;
    }
    *place = ++reader->thread_count;
}

static void rename_thread(struct session_reader *reader, const struct reader_thread *thread,
                          const char *name)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        if (thread->of[kind])
            store_rename(reader->profile->stores.of[kind], thread->of[kind], name);
    if (thread->events)
        event_store_rename(reader->profile->events, thread->events, name);
}

/* [number, process, tid, name] */
static void read_thread(struct session_reader *reader, struct entry *entry, const json_t *list)
{
    int64_t number = entry_int_at(entry, "threads", list, 0, 1, UINT32_MAX);
    int64_t process = entry_int_at(entry, "threads", list, 1, 1, INT64_MAX);
    int64_t tid = entry_int_at(entry, "threads", list, 2, INT32_MIN, INT32_MAX);
    const char *name = json_string_value(json_array_get(list, 3));
    const struct reader_process *owner = find_process(reader, (uint64_t)process);
    uint32_t *place;
    bool added;

    if (!name || !owner)
        entry_fail(entry, "a thread has no name, or process %" PRId64 " is not there", process);
    if (entry->bad)
        return;
    place = map64_put(&reader->threads, (uint64_t)number, &added);
    if (place && !added && *place)
        rename_thread(reader, &reader->thread_list[*place - 1], name);
    else
        add_thread(reader, entry, place, owner->owner, (int32_t)tid, name);
}

void table_reader_threads(struct session_reader *reader, struct entry *entry)
{
    const json_t *list = entry_list(entry, "threads");

    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++)
        read_thread(reader, entry, json_array_get(list, i));
}

void table_reader_names(struct session_reader *reader, struct entry *entry)
{
    struct names *names = registry_names(reader->profile->registry);
    const json_t *list = entry_list(entry, "names");

    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++) {
        const json_t *pair = json_array_get(list, i);
        uint32_t number = (uint32_t)entry_int_at(entry, "names", pair, 0, 1, NAMES_MAX - 1);
        const char *text = json_string_value(json_array_get(pair, 1));
        uint32_t here = 0, *place;
        bool added;

        if (!text || entry->bad) {
            entry_fail(entry, "'names' has one without a text");
            return;
        }
        if (!reader->keep)
            here = names_number(names, text);
        else if (names_put(names, number, text))
            here = number;
        place = here ? map64_put(&reader->archive->numbers.names, number, &added) : NULL;
        if (!place)
            entry_fail(entry, "name %" PRIu32 " is there already, or there is no room", number);
        else
            *place = here;
    }
}

void table_reader_facts(struct session_reader *reader, struct entry *entry)
{
    uint64_t id = (uint64_t)entry_int(entry, "process", 1, INT64_MAX);
    const struct reader_process *process = find_process(reader, id);

    if (!process)
        entry_fail(entry, "process %" PRIu64 " is not there", id);
    else
        facts_entry_read(entry, reader->profile->kept, process->id);
}

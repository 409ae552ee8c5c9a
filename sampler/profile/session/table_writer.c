#include "table_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../facts.h"
#include "../intake/processes.h"
#include "../timeline.h"
#include "format/module_entry.h"
#include "format/process_entry.h"
#include "session_contents.h"
#include "format/settings_entry.h"

#include <stdlib.h>
#include <string.h>

/* COUNTS_EVERY_US: counters are new each time, and of a file that was cut off nobody misses a few seconds' of them. */
enum { MODULES_AT_ONCE = 1024, PROCESSES_AT_ONCE = 256, COUNTS_EVERY_US = 5000000 };

int table_writer_open(struct table_writer *writer, struct profile *profile,
                      const struct session_options *options, bool recording)
{
    const struct session_contents *contents = profile->contents;

    *writer =
        (struct table_writer){ .profile = profile, .options = options, .recording = recording };
    for (size_t i = 0; contents && i < contents->count; i++) {
        writer->missed += contents->parts[i].facts.missed;
        writer->events_missed += contents->parts[i].facts.events_missed;
    }
    return packer_new(&writer->packer);
}

static void forget_file(struct table_writer *writer)
{
    told_free(&writer->told);
    json_decref(writer->threads);
    json_decref(writer->names);
    writer->threads = json_array();
    writer->names = json_array();
    writer->functions = (struct functions_told){ 0 };
    chain_state_free(&writer->chain_state);
    writer->version = 0;
    writer->counts_us = writer->facts_us = writer->mappings_us = 0;
    packer_restart(writer->packer, BLOCK_FRAME_TABLES);
}

void table_writer_close(struct table_writer *writer)
{
    told_free(&writer->told);
    json_decref(writer->threads);
    json_decref(writer->names);
    chain_state_free(&writer->chain_state);
    packer_free(writer->packer);
    columns_free(&writer->columns);
    chain_list_free(&writer->chains);
    bytes_free(&writer->content);
}

int table_writer_put(struct table_writer *writer, const char *type, json_t *object,
                     struct bytes *out)
{
    bytes_clear(&writer->content);
    entry_dump(object, &writer->content);
    return packer_block(writer->packer, out, type, BLOCK_FRAME_TABLES, &writer->content);
}

static bool text_changes(struct table_writer *writer, enum told_kind kind, uint64_t id,
                         const json_t *entry)
{
    char *text = json_dumps(entry, JSON_COMPACT);
    bool changes = text && told_changes(&writer->told, kind, id, text, strlen(text));

    free(text);
    return changes;
}

/* It is not what was told. counts: the member that is new each time. kind is followed by its COUNTS. */
static bool is_news(struct table_writer *writer, enum told_kind kind, uint64_t id, json_t *entry,
                    const char *counts)
{
    json_t *rest = json_copy(entry);
    bool news;

    json_object_del(rest, counts);
    news = text_changes(writer, kind, id, rest);
    json_decref(rest);
    if (news || writer->counts)
        news |= text_changes(writer, kind + 1, id, entry);
    return news;
}

/* Of a saved profile, the one whose times are the profile's. NULL: it is live. */
static const struct saved_session *first_session(const struct profile *profile)
{
    const struct session_contents *contents = profile->contents;
    const struct saved_session *first = contents ? &contents->parts[0].facts : NULL;

    for (size_t i = 1; contents && i < contents->count; i++)
        if (contents->parts[i].facts.start_us < first->start_us)
            first = &contents->parts[i].facts;
    return first;
}

int table_writer_begin(struct table_writer *writer, int64_t start_us, struct bytes *out)
{
    const struct saved_session *first = first_session(writer->profile);
    const char *const *command = writer->options->command;
    struct session_head head;
    char cpu[256];
    int error;

    forget_file(writer);
    profile_host_cpu(writer->profile, cpu, sizeof(cpu));
    session_head_here(&head, start_us, cpu, !command && first ? first->command : command);
    if (first)
        session_head_again(&head, first);
    error = table_writer_put(writer, "HEAD", session_head_write(&head), out);
    session_head_free(&head);
    return error;
}

uint32_t table_writer_thread(struct table_writer *writer, const struct owner_thread *thread,
                             const char *name)
{
    uint32_t number = told_thread(&writer->told, thread);

    if (number && told_changes(&writer->told, TOLD_THREAD, number, name, strlen(name)))
        json_array_append_new(writer->threads, json_pack("[I, I, i, o]", (json_int_t)number,
                                                         (json_int_t)thread->owner->process_id,
                                                         (int)thread->tid, entry_text_of(name)));
    return number;
}

void table_writer_name(struct table_writer *writer, uint32_t name)
{
    const char *text = names_text(registry_names(writer->profile->registry), name);

    if (text && told_number(&writer->told, name))
        json_array_append_new(writer->names,
                              json_pack("[I, o]", (json_int_t)name, entry_text_of(text)));
}

void table_writer_frame(struct table_writer *writer, uint64_t frame)
{
    const struct module *module =
        registry_module(writer->profile->registry, FRAME_KEY_MODULE(frame));

    if (atomic_load_explicit(&module->named, memory_order_acquire))
        table_writer_name(writer, (uint32_t)FRAME_KEY_OFFSET(frame));
    else if (module->number)
        told_frame(&writer->told, frame);
}

void table_writer_renames(struct table_writer *writer, const struct store_view *views,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < views[i].source_count; j++) {
            const struct owner_thread *thread = views[i].chunk->sources[j].thread;

            if (map64_find(&writer->told.threads, thread->serial))
                table_writer_thread(writer, thread, views[i].sources[j].name);
        }
}

/* The list as the only member of an object; it is empty then. */
static int put_list(struct table_writer *writer, const char *type, const char *name, json_t **list,
                    struct bytes *out)
{
    json_t *full = *list;

    if (!json_array_size(full))
        return 0;
    *list = json_array();
    return table_writer_put(writer, type, json_pack("{s:o}", name, full), out);
}

/* Those of all modules that are not as they were told, some at a time. */
int table_writer_modules(struct table_writer *writer, struct bytes *out)
{
    const struct registry *registry = writer->profile->registry;
    json_t *list = json_array();
    int error = 0;

    for (uint32_t number = 1; number < registry_end(registry) && !error; number++) {
        const struct module *module = registry_find(registry, number);
        json_t *entry = module ? module_entry_write(module) : NULL;

        if (entry && text_changes(writer, TOLD_MODULE, number, entry))
            json_array_append(list, entry);
        json_decref(entry);
        if (json_array_size(list) == MODULES_AT_ONCE)
            error = put_list(writer, "MODS", "modules", &list, out);
    }
    if (!error)
        error = put_list(writer, "MODS", "modules", &list, out);
    json_decref(list);
    return error;
}

static json_t *write_process(struct table_writer *writer, uint64_t id)
{
    struct process_saved saved = { 0 };
    json_t *entry = NULL;

    if (processes_saved(writer->profile->processes, id, &saved)) {
        if (writer->recording)
            saved.info.evicted = 0; /* they are in the file */
        entry = process_entry_write(&saved);
    }
    module_set_free(&saved.met);
    return entry;
}

static int put_processes(struct table_writer *writer, struct bytes *out)
{
    size_t count = profile_processes(writer->profile, NULL, 0), listed;
    struct process_info *infos = calloc(count + 1, sizeof(*infos));
    json_t *list = json_array();
    int error = infos ? 0 : -ISOSCOPE_NO_MEMORY;

    listed = infos ? profile_processes(writer->profile, infos, count) : 0;
    for (size_t i = 0; i < count && i < listed && !error; i++) {
        json_t *entry = write_process(writer, infos[i].id);

        if (entry && is_news(writer, TOLD_PROCESS, infos[i].id, entry, "status"))
            json_array_append(list, entry);
        json_decref(entry);
        if (json_array_size(list) == PROCESSES_AT_ONCE)
            error = put_list(writer, "PROC", "processes", &list, out);
    }
    if (!error)
        error = put_list(writer, "PROC", "processes", &list, out);
    json_decref(list);
    free(infos);
    return error;
}

/* Not each second all of them, where there are hundreds that ended long ago. */
static int put_who(struct table_writer *writer, struct bytes *out)
{
    uint64_t version = profile_version(writer->profile);
    int error = table_writer_modules(writer, out);

    if (error || version == writer->version)
        return error;
    if (writer->counts)
        writer->version = version;
    return put_processes(writer, out);
}

int table_writer_before_samples(struct table_writer *writer, struct bytes *out)
{
    int error = put_who(writer, out);

    if (!error)
        error = put_list(writer, "THRD", "threads", &writer->threads, out);
    if (!error)
        error = put_list(writer, "NAME", "names", &writer->names, out);
    return error;
}

static void keep_last(uint32_t *kept, uint32_t *now)
{
    *kept = *now ? *now : *kept;
    *now = *kept;
}

static int put_settings(struct table_writer *writer, struct bytes *out)
{
    struct session_settings settings = { .settings = profile_settings(writer->profile),
                                         .cpu = profile_cpu(writer->profile),
                                         .missed = writer->missed,
                                         .events_missed = writer->events_missed,
                                         .events = profile_timeline_history(writer->profile) };
    json_t *entry;

    keep_last(&writer->allocation_bytes, &settings.settings.allocation_bytes);
    keep_last(&writer->lock_us, &settings.settings.lock_us);
    keep_last(&writer->faults, &settings.settings.faults);
    if (writer->recording)
        settings.events.evicted = 0; /* they are in the file */
    entry = settings_entry_write(&settings);
    if (entry && is_news(writer, TOLD_SETTINGS, 0, entry, "cpu"))
        return table_writer_put(writer, "SETT", entry, out);
    json_decref(entry);
    return 0;
}

static int put_state(struct table_writer *writer, struct bytes *out)
{
    char *text = writer->options->state ? writer->options->state(writer->options->context) : NULL;
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;

    free(text);
    if (object && text_changes(writer, TOLD_STATE, 0, object))
        return table_writer_put(writer, "STAT", object, out);
    json_decref(object);
    return 0;
}

static int put_tables(struct table_writer *writer, struct bytes *out)
{
    int error = put_who(writer, out);

    if (!error)
        error = put_list(writer, "THRD", "threads", &writer->threads, out);
    if (!error)
        error = put_settings(writer, out);
    if (!error)
        error = put_state(writer, out);
    return error;
}

int table_writer_tables(struct table_writer *writer, int64_t now_us, struct bytes *out)
{
    int error;

    writer->counts = !writer->counts_us || now_us - writer->counts_us >= COUNTS_EVERY_US;
    if (writer->counts)
        writer->counts_us = now_us;
    error = put_tables(writer, out);
    writer->counts = false;
    return error;
}

int table_writer_last_tables(struct table_writer *writer, int64_t now_us, struct bytes *out)
{
    writer->counts_us = 0;
    return table_writer_tables(writer, now_us, out);
}

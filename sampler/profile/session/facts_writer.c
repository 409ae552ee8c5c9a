#include "facts_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../facts.h"

#include <stdlib.h>
#include <string.h>

/* Mappings take the kernel milliseconds, during which the program cannot map anything. */
enum { MEMORY_EVERY_US = 5000000, MAPPINGS_EVERY_US = 60000000, MAPPINGS_AT_ONCE = 1024 };

struct mapping_writing {
    struct table_writer *writer;
    struct bytes *out;
    uint64_t process_id;
    json_t *list;
    bool begun;
    struct process_memory memory;
    int error;
};

/* The mappings so far; the first time with the memory. */
static void put_fact(struct mapping_writing *writing)
{
    const struct process_memory *memory = &writing->memory;
    json_t *object = json_pack("{s:I, s:o}", "process", (json_int_t)writing->process_id, "mappings",
                               writing->list);

    if (object && !writing->begun)
        json_object_set_new(object, "memory",
                            json_pack("{s:I, s:I, s:I, s:I}", "rss", (json_int_t)memory->rss_bytes,
                                      "rssMax", (json_int_t)memory->rss_max_bytes, "own",
                                      (json_int_t)memory->own_bytes, "reserved",
                                      (json_int_t)memory->reserved_bytes));
    writing->begun = true;
    writing->list = json_array();
    if (!writing->error)
        writing->error = table_writer_put(writing->writer, "FACT", object, writing->out);
    else
        json_decref(object);
}

static void add_mapping(void *context, const char *path, uint64_t rss_bytes)
{
    struct mapping_writing *writing = context;

    json_array_append_new(writing->list,
                          json_pack("[o, I]", entry_text_of(path), (json_int_t)rss_bytes));
    if (json_array_size(writing->list) == MAPPINGS_AT_ONCE)
        put_fact(writing);
}

static int put_facts(struct table_writer *writer, uint64_t process_id, bool mappings,
                     struct bytes *out)
{
    struct mapping_writing writing = { .writer = writer,
                                       .out = out,
                                       .process_id = process_id,
                                       .memory = profile_memory(writer->profile, process_id) };

    if (!writing.memory.rss_bytes)
        return 0; /* it has ended: what was told stays */
    writing.list = mappings ? json_array() : json_null();
    if (mappings)
        profile_mappings(writer->profile, process_id, add_mapping, &writing);
    put_fact(&writing);
    json_decref(writing.list);
    return writing.error;
}

int facts_writer_memory(struct table_writer *writer, int64_t now_us, struct bytes *out)
{
    bool mappings = !writer->mappings_us || now_us - writer->mappings_us >= MAPPINGS_EVERY_US;
    size_t count, listed;
    struct process_info *infos;
    int error = 0;

    if (writer->facts_us && now_us - writer->facts_us < MEMORY_EVERY_US)
        return 0;
    count = profile_processes(writer->profile, NULL, 0);
    infos = calloc(count + 1, sizeof(*infos));
    if (!infos)
        return -ISOSCOPE_NO_MEMORY;
    listed = profile_processes(writer->profile, infos, count);
    for (size_t i = 0; i < count && i < listed && !error; i++)
        if (infos[i].live || !writer->recording)
            error = put_facts(writer, infos[i].id, mappings, out);
    writer->facts_us = now_us;
    if (mappings)
        writer->mappings_us = now_us;
    free(infos);
    return error;
}

/* The path, a 0, and the text. */
static int put_source(struct table_writer *writer, uint32_t number, const char *file,
                      struct bytes *out)
{
    size_t length;
    char *text;
    int error = 0;

    if (!told_changes(&writer->told, TOLD_SOURCE, number, "", 0))
        return 0;
    text = profile_source_text(writer->profile, file, &length);
    if (!text)
        return 0;
    bytes_clear(&writer->content);
    bytes_put(&writer->content, file, strlen(file) + 1);
    bytes_put(&writer->content, text, length);
    error = packer_block(writer->packer, out, "SRCE", BLOCK_FRAME_OWN, &writer->content);
    free(text);
    return error == -ISOSCOPE_LIMIT ? 0 : error;
}

int facts_writer_sources(struct table_writer *writer, struct bytes *out)
{
    struct functions *functions = writer->profile->functions;
    int error = 0;

    for (uint32_t number = 1; number < functions_file_end(functions) && !error; number++) {
        const char *file = functions_file_path(functions, number);

        if (file)
            error = put_source(writer, number, file, out);
    }
    return error;
}

static void read_mapping(struct entry *entry, const json_t *pair, struct kept_facts *kept,
                         uint64_t process_id)
{
    const char *path = json_string_value(json_array_get(pair, 0));
    int64_t bytes = entry_int_at(entry, "mappings", pair, 1, 0, INT64_MAX);

    if (!path)
        entry_fail(entry, "'mappings' has one without a path");
    else if (!entry->bad && kept_facts_put_mapping(kept, process_id, path, (uint64_t)bytes) < 0)
        entry_fail(entry, "it goes on with mappings of a process without memory");
}

static void read_memory(struct entry *around, const json_t *object, struct kept_facts *kept,
                        uint64_t process_id, bool mappings)
{
    struct entry entry = { object, around->reason, false };
    struct process_memory memory = {
        .rss_bytes = entry_int(&entry, "rss", 0, INT64_MAX),
        .rss_max_bytes = entry_int(&entry, "rssMax", 0, INT64_MAX),
        .own_bytes = entry_int(&entry, "own", 0, INT64_MAX),
        .reserved_bytes = entry_int(&entry, "reserved", 0, INT64_MAX),
    };

    if (!entry.bad && kept_facts_put_memory(kept, process_id, &memory, mappings) < 0)
        entry_fail(&entry, "out of memory");
    around->bad |= entry.bad;
}

void facts_entry_read(struct entry *entry, struct kept_facts *kept, uint64_t process_id)
{
    const json_t *memory = entry_object(entry, "memory"), *list = entry_list(entry, "mappings");

    if (memory && !entry->bad)
        read_memory(entry, memory, kept, process_id, list != NULL);
    for (size_t i = 0; i < json_array_size(list) && !entry->bad; i++)
        read_mapping(entry, json_array_get(list, i), kept, process_id);
}

const char *source_block_read(const struct bytes *content, struct kept_facts *kept)
{
    const char *file = (const char *)content->data;
    size_t bytes = content->count ? strnlen(file, content->count) : 0;

    if (!bytes || bytes == content->count)
        return "it has no path";
    if (kept_facts_put_source(kept, file, file + bytes + 1, content->count - bytes - 1) < 0)
        return "out of memory";
    return NULL;
}

#include "loops_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../stalls.h"
#include "format/loop_entry.h"

#include <stdlib.h>
#include <string.h>

enum { EVERY_US = 5000000, AT_ONCE = 256 };

void loops_writer_begin(struct loops_writer *writer)
{
    writer->told_us = 0;
}

/* The text is not what it was. */
static bool is_news(struct table_writer *tables, enum told_kind kind, uint64_t id, json_t *entry)
{
    char *text = json_dumps(entry, JSON_COMPACT);
    bool news = text && told_changes(&tables->told, kind, id, text, strlen(text));

    free(text);
    return news;
}

/* The object as a block; NULL is no memory. */
static int put_object(struct table_writer *tables, json_t *object, struct bytes *out)
{
    bytes_clear(&tables->content);
    entry_dump(object, &tables->content);
    return packer_block(tables->packer, out, "LOOP", BLOCK_FRAME_OWN, &tables->content);
}

/* The list as the only member; it is empty then. */
static int put_list(struct table_writer *tables, const char *name, json_t **list, size_t least,
                    struct bytes *out)
{
    json_t *full = *list;

    if (json_array_size(full) < least)
        return 0;
    *list = json_array();
    return put_object(tables, json_pack("{s:o}", name, full), out);
}

/* Its process is listed, so it is in the file, too. */
static bool is_there(struct table_writer *tables, uint64_t process_id)
{
    struct process_info info;

    return profile_process(tables->profile, process_id, &info);
}

static int put_settings(struct table_writer *tables, struct bytes *out)
{
    const struct stall_settings settings = profile_stall_settings(tables->profile);
    json_t *entry = loop_settings_write(&settings);

    if (is_news(tables, TOLD_LOOP_SETTINGS, 0, entry))
        return put_object(tables, json_pack("{s:o}", "settings", entry), out);
    json_decref(entry);
    return 0;
}

static int put_loops(struct table_writer *tables, struct bytes *out)
{
    size_t count = profile_loops(tables->profile, 0, NULL, 0), listed;
    struct loop_info *loops = calloc(count + 1, sizeof(*loops));
    json_t *list = json_array();
    int error = loops ? 0 : -ISOSCOPE_NO_MEMORY;

    listed = loops ? profile_loops(tables->profile, 0, loops, count) : 0;
    for (size_t i = 0; i < count && i < listed && !error; i++) {
        json_t *entry = loop_entry_write(&loops[i]);

        if (is_there(tables, loops[i].process_id) &&
            is_news(tables, TOLD_LOOP, loops[i].number, entry))
            json_array_append(list, entry);
        json_decref(entry);
        error = put_list(tables, "loops", &list, AT_ONCE, out);
    }
    if (!error)
        error = put_list(tables, "loops", &list, 1, out);
    json_decref(list);
    free(loops);
    return error;
}

/* All of them, when there is another one. */
static int put_unwatched(struct table_writer *tables, struct bytes *out)
{
    struct unwatched_thread threads[AT_ONCE];
    size_t count = profile_unwatched(tables->profile, 0, threads, AT_ONCE);
    json_t *list = json_array();

    for (size_t i = 0; i < count && i < AT_ONCE; i++)
        if (is_there(tables, threads[i].process_id))
            json_array_append_new(list, unwatched_entry_write(&threads[i]));
    if (json_array_size(list) && is_news(tables, TOLD_UNWATCHED, 0, list))
        return put_object(tables, json_pack("{s:o}", "unwatched", list), out);
    json_decref(list);
    return 0;
}

static int put_highs(struct loops_writer *writer, struct table_writer *tables, struct bytes *out)
{
    struct cpu_high highs[AT_ONCE];
    size_t count = profile_cpu_high(tables->profile, writer->high, highs, AT_ONCE);
    json_t *list = json_array();
    int error;

    for (size_t i = 0; i < count && i < AT_ONCE; i++) {
        writer->high = highs[i].number;
        if (is_there(tables, highs[i].process_id))
            json_array_append_new(list, cpu_high_entry_write(&highs[i]));
    }
    error = put_list(tables, "cpuHigh", &list, 1, out);
    json_decref(list);
    return error;
}

int loops_writer_put(struct loops_writer *writer, struct table_writer *tables, int64_t now_us,
                     struct bytes *out)
{
    int error;

    if (writer->told_us && now_us - writer->told_us < EVERY_US)
        return 0;
    writer->told_us = now_us;
    if ((error = table_writer_before_samples(tables, out)) < 0 ||
        (error = put_settings(tables, out)) < 0 || (error = put_loops(tables, out)) < 0 ||
        (error = put_unwatched(tables, out)) < 0)
        return error;
    return put_highs(writer, tables, out);
}

#include "session_reader.h"

#include "../../include/isoscope/isoscope.h"
#include "events_reader.h"
#include "facts_writer.h"
#include "loops_reader.h"
#include "piece_reader.h"
#include "stalls_reader.h"
#include "table_reader.h"

#include <stdlib.h>
#include <string.h>

/* What tables may come to, whatever the file's size, and for each of its bytes: what is written is
 * far below. */
enum { BUDGET_BASE = 16 << 20, BUDGET_PER_BYTE = 100, JSON_BYTES_MAX = 1 << 20 };

int session_reader_open(struct session_reader *reader, struct profile *profile,
                        struct session_archive *archive, struct saved_problem *problem)
{
    struct frame_numbers *numbers = &archive->numbers;

    *reader = (struct session_reader){
        .profile = profile,
        .archive = archive,
        .problem = problem,
        .budget = BUDGET_BASE + archive->file.bytes * BUDGET_PER_BYTE,
    };
    numbers->modules = calloc(MODULES_MAX + 1, sizeof(*numbers->modules));
    numbers->offsets = calloc(MODULES_MAX + 1, sizeof(*numbers->offsets));
    reader->functions.modules = numbers->modules;
    reader->functions.offsets = numbers->offsets;
    reader->functions.codes = &numbers->codes;
    if (!numbers->modules || !numbers->offsets || unpacker_new(&reader->tables) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return 0;
}

void session_reader_close(struct session_reader *reader)
{
    unpacker_free(reader->tables);
    bytes_free(&reader->stored);
    bytes_free(&reader->content);
    map64_free(&reader->functions.functions);
    map64_free(&reader->functions.files);
    chain_state_free(&reader->chain_state);
    map64_free(&reader->threads);
    map64_free(&reader->processes);
    map64_free(&reader->loops);
    for (uint32_t i = 0; i < reader->thread_count; i++) {
        for (int kind = 0; kind < SAMPLE_KINDS; kind++)
            owner_thread_release(reader->thread_list[i].of[kind]);
        owner_thread_release(reader->thread_list[i].events);
    }
    event_outline_free(&reader->outline);
    free(reader->thread_list);
    free(reader->process_list);
    piece_reader_forget(reader);
    piece_free(&reader->piece);
    free(reader->state);
    *reader = (struct session_reader){ 0 };
}

/* The content of a block, which is checked. */
static int unpack(struct session_reader *reader, const struct block_place *place)
{
    uint64_t position = place->position;
    int error;

    error = session_file_read(&reader->archive->file, place, &reader->stored, reader->problem);
    if (error)
        return error;
    if (place->head.unpacked > reader->budget)
        return session_problem(reader->problem, position,
                               "block '%s': its tables come to more than a file of this size can "
                               "hold",
                               place->head.type);
    reader->budget -= place->head.unpacked;
    error = unpacker_read(reader->tables, reader->stored.data, reader->stored.count,
                          place->head.unpacked, &reader->content);
    if (error == -ISOSCOPE_DAMAGED)
        return session_problem(reader->problem, position, "block '%s' cannot be unpacked",
                               place->head.type);
    return error;
}

static void read_settings(struct session_reader *reader, struct entry *entry)
{
    settings_entry_read(entry, &reader->settings);
}

static void read_state(struct session_reader *reader, struct entry *entry)
{
    char *text = json_dumps(entry->object, JSON_COMPACT);

    if (!text) {
        entry_fail(entry, "out of memory");
        return;
    }
    free(reader->state);
    reader->state = text;
}

static void read_functions(struct session_reader *reader, struct entry *entry)
{
    function_entry_read(entry, reader->profile->functions, &reader->functions);
}

static void read_end(struct session_reader *reader, struct entry *entry)
{
    int64_t end_us = entry_int(entry, "endUs", 0, INT64_MAX / 4) + reader->archive->shift_us;

    reader->end_us = end_us > reader->end_us ? end_us : reader->end_us;
    reader->closed = true;
}

static void read_head_again(struct session_reader *reader, struct entry *entry)
{
    (void)reader;
    (void)entry;
}

typedef void (*entry_reader)(struct session_reader *reader, struct entry *entry);

static entry_reader reader_of(const char *type)
{
    static const struct {
        const char *type;
        entry_reader read;
    } readers[] = {
        { "HEAD", read_head_again },
        { "SETT", read_settings },
        { "STAT", read_state },
        { "FUNC", read_functions },
        { "ENDS", read_end },
        { "PROC", table_reader_processes },
        { "MODS", table_reader_modules },
        { "THRD", table_reader_threads },
        { "NAME", table_reader_names },
        { "FACT", table_reader_facts },
        { "PIEC", piece_reader_piece },
    };

    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        if (!strcmp(readers[i].type, type))
            return readers[i].read;
    return NULL;
}

/* The content that was unpacked. */
static int read_object(struct session_reader *reader, const struct block_place *place,
                       entry_reader read)
{
    char reason[ENTRY_REASON_BYTES] = "";
    struct entry entry;
    json_error_t wrong;
    json_t *object;

    if (reader->content.count > JSON_BYTES_MAX)
        return session_problem(reader->problem, place->position,
                               "block '%s' is larger than %d bytes", place->head.type,
                               JSON_BYTES_MAX);
    object = json_loadb((const char *)reader->content.data, reader->content.count, 0, &wrong);
    if (!object)
        return session_problem(reader->problem, place->position, "block '%s' is no JSON: %s",
                               place->head.type, wrong.text);
    entry = entry_of(object, reason);
    if (!entry.bad)
        read(reader, &entry);
    json_decref(object);
    return entry.bad ? session_problem(reader->problem, place->position, "block '%s': %s",
                                       place->head.type, reason)
                     : 0;
}

static int read_json(struct session_reader *reader, const struct block_place *place,
                     entry_reader read)
{
    int error = unpack(reader, place);

    return error ? error : read_object(reader, place, read);
}

static int read_chains(struct session_reader *reader, const struct block_place *place)
{
    const char *reason;
    int error = unpack(reader, place);

    if (error)
        return error;
    reason = chain_columns_read(&reader->content, &reader->functions, reader->profile->functions,
                                &reader->chain_state, reader->profile->known.saved);
    return reason ? session_problem(reader->problem, place->position, "block 'CHNS': %s", reason)
                  : 0;
}

/* A frame of its own. */
static int unpack_own(struct session_reader *reader, const struct block_place *place)
{
    struct unpacker *tables = reader->tables;
    int error = unpacker_new(&reader->tables);

    if (!error)
        error = unpack(reader, place);
    if (reader->tables != tables)
        unpacker_free(reader->tables);
    reader->tables = tables;
    return error;
}

static int read_source(struct session_reader *reader, const struct block_place *place)
{
    const char *reason;
    int error = unpack_own(reader, place);

    if (error)
        return error;
    reason = source_block_read(&reader->content, reader->profile->kept);
    return reason ? session_problem(reader->problem, place->position, "block 'SRCE': %s", reason)
                  : 0;
}

/* An object in a frame of its own. */
static int read_own(struct session_reader *reader, const struct block_place *place,
                    entry_reader read)
{
    int error = unpack_own(reader, place);

    return error ? error : read_object(reader, place, read);
}

/* Only that they are whole: they are unpacked when somebody looks. */
static int read_events(struct session_reader *reader, const struct block_place *place)
{
    int error = session_file_read(&reader->archive->file, place, &reader->stored, reader->problem);

    return error ? error : events_reader_events(reader, place);
}

/* Only that it is whole: it is unpacked when somebody looks. */
static int read_samples(struct session_reader *reader, const struct block_place *place)
{
    int error = session_file_read(&reader->archive->file, place, &reader->stored, reader->problem);

    return error ? error : piece_reader_samples(reader, place);
}

static int read_block(struct session_reader *reader, const struct block_place *place)
{
    const char *type = place->head.type;
    entry_reader read = reader_of(type);

    if (!strcmp(type, "SMPL") || !strcmp(type, "KSMP"))
        return read_samples(reader, place);
    if (!strcmp(type, "EVNT"))
        return read_events(reader, place);
    if (reader->events_expected)
        return session_problem(reader->problem, place->position,
                               "block 'EVTS' is followed by '%s', and not by its events", type);
    if (reader->piece_expected)
        return session_problem(reader->problem, place->position,
                               "block '%s' is followed by '%s', and not by its samples",
                               piece_reader_block(&reader->piece), type);
    if (read)
        return read_json(reader, place, read);
    if (!strcmp(type, "CHNS"))
        return read_chains(reader, place);
    if (!strcmp(type, "SRCE"))
        return read_source(reader, place);
    if (!strcmp(type, "EVTS"))
        return read_own(reader, place, events_reader_outline);
    if (!strcmp(type, "STLS"))
        return read_own(reader, place, stalls_reader_stall);
    if (!strcmp(type, "LOOP"))
        return read_own(reader, place, loops_reader_loops);
    if (!strcmp(type, "KPIE"))
        return read_own(reader, place, piece_reader_piece_of_kind);
    /* Of a later time; but whole. */
    return session_file_read(&reader->archive->file, place, &reader->stored, reader->problem);
}

/* The first block is there, and a HEAD. */
static int first_block(struct session_reader *reader, struct block_place *place)
{
    int result = session_file_next(&reader->archive->file, place, reader->problem);

    if (result < 0)
        return result;
    if (!result)
        return session_problem(reader->problem, SESSION_HEAD_BYTES, "it has no complete block");
    if (strcmp(place->head.type, "HEAD") != 0)
        return session_problem(reader->problem, place->position, "its first block is no 'HEAD'");
    return 0;
}

int session_reader_head(struct session_reader *reader, struct session_head *out)
{
    char reason[ENTRY_REASON_BYTES] = "";
    struct block_place place;
    struct entry entry;
    json_t *object;
    int error = first_block(reader, &place);

    if (!error)
        error = unpack(reader, &place);
    session_file_rewind(&reader->archive->file);
    unpacker_restart(reader->tables);
    if (error)
        return error;
    object = json_loadb((const char *)reader->content.data, reader->content.count, 0, NULL);
    *out = (struct session_head){ 0 };
    entry = entry_of(object, reason);
    if (!entry.bad)
        session_head_entry(&entry, out);
    json_decref(object);
    return entry.bad ? session_problem(reader->problem, place.position, "block 'HEAD': %s", reason)
                     : 0;
}

int session_reader_read(struct session_reader *reader)
{
    struct block_place place;
    int result;

    reader->functions.keep = reader->archive->numbers.codes.keep = reader->keep;
    loops_reader_begin(reader);
    while ((result = session_file_next(&reader->archive->file, &place, reader->problem)) > 0) {
        result = read_block(reader, &place);
        if (result)
            return result;
    }
    if (result)
        return result;
    /* Samples or events without their block were cut off with it. */
    reader->piece_expected = reader->events_expected = false;
    return piece_reader_end(reader);
}

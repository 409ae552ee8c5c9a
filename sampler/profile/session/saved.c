#include "../saved.h"

#include "../../include/isoscope/isoscope.h"
#include "../events/event_store.h"
#include "../facts/kept_facts.h"
#include "../intake/processes.h"
#include "../parts.h"
#include "../profile.h"
#include "error_text.h"
#include "session_contents.h"
#include "session_reader.h"

#include <stdlib.h>
#include <string.h>

/* While files are being read. */
struct opening {
    struct profile *profile;
    const struct saved_options *options;
    struct session_reader *readers; /* by file */
    struct session_head *heads;
    size_t count;
    struct saved_problem *problem;
};

static int make_profile(struct opening *opening)
{
    const struct saved_options *from = opening->options;
    const struct profile_options options = { .store_bytes = from->store_bytes,
                                             .no_symbols = !from->symbolize,
                                             .debuginfod = from->debuginfod,
                                             .source_root = from->source_root,
                                             .changed = from->changed,
                                             .context = from->context };
    int error = profile_parts_new(&opening->profile, &options);

    if (error)
        return error;
    opening->profile->contents = session_contents_new(opening->count);
    opening->readers = calloc(opening->count + 1, sizeof(*opening->readers));
    opening->heads = calloc(opening->count + 1, sizeof(*opening->heads));
    if (!opening->profile->contents || !opening->readers || !opening->heads ||
        kept_facts_new(&opening->profile->kept) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return inline_chains_new(&opening->profile->known.saved, SIZE_MAX);
}

static bool keep_text(char **out, const char *text)
{
    return (*out = strdup(text)) != NULL;
}

static bool keep_command(struct session_part *part, const json_t *command)
{
    size_t count = json_array_size(command);

    if (!command)
        return true;
    part->command = calloc(count + 1, sizeof(*part->command));
    for (size_t i = 0; part->command && i < count; i++)
        if (!keep_text(&part->command[i], json_string_value(json_array_get(command, i))))
            return false;
    return part->command;
}

static int open_file(struct opening *opening, size_t number, const char *path)
{
    struct session_part *part = &opening->profile->contents->parts[number];
    struct session_reader *reader = &opening->readers[number];
    struct session_head *head = &opening->heads[number];
    int error;

    opening->problem->file = number;
    if (!keep_text(&part->path, path))
        return -ISOSCOPE_NO_MEMORY;
    if ((error = session_file_open(&part->archive.file, part->path, opening->problem)) < 0 ||
        (error = session_reader_open(reader, opening->profile, &part->archive, opening->problem)) <
            0 ||
        (error = session_reader_head(reader, head)) < 0)
        return error;
    reader->keep = number == 0;
    reader->is_open = opening->options->symbolize;
    if (!keep_text(&part->producer, head->producer) || !keep_text(&part->host, head->host) ||
        !keep_command(part, head->command) ||
        (!number && kept_facts_put_cpu(opening->profile->kept, head->cpu) < 0))
        return -ISOSCOPE_NO_MEMORY;
    return 0;
}

/* The one whose clock is the profile's. */
static size_t reference_of(const struct opening *opening)
{
    size_t first = 0;

    for (size_t i = 1; opening->options->align == SAVED_ALIGN_CLOCK && i < opening->count; i++)
        if (opening->heads[i].wall_start_us < opening->heads[first].wall_start_us)
            first = i;
    return first;
}

static void align(struct opening *opening)
{
    const struct session_head *reference = &opening->heads[reference_of(opening)];

    for (size_t i = 0; i < opening->count; i++) {
        const struct session_head *head = &opening->heads[i];
        int64_t shift_us = reference->start_us - head->start_us;

        if (opening->options->align == SAVED_ALIGN_CLOCK)
            shift_us += head->wall_start_us - reference->wall_start_us;
        opening->profile->contents->parts[i].archive.shift_us = shift_us;
    }
}

static int read_file(struct opening *opening, size_t number)
{
    struct session_part *part = &opening->profile->contents->parts[number];
    struct session_reader *reader = &opening->readers[number];
    const struct session_head *head = &opening->heads[number];
    int64_t start_us = head->start_us + part->archive.shift_us;
    int error;

    opening->problem->file = number;
    reader->end_us = start_us;
    if (number) /* behind those of the files before */
        part->archive.numbers.codes.last = part[-1].archive.numbers.codes.last;
    error = session_reader_read(reader);
    if (error)
        return error;
    part->state = reader->state;
    reader->state = NULL;
    part->facts = (struct saved_session){
        .path = part->path,
        .producer = part->producer,
        .host = part->host,
        .command = (const char *const *)part->command,
        .closed = reader->closed,
        .cut_bytes = part->archive.file.cut_bytes,
        .bytes = part->archive.file.bytes,
        .samples = reader->samples,
        .missed = reader->settings.missed,
        .events = reader->events,
        .events_missed = reader->settings.events_missed,
        .start_us = start_us,
        .end_us = reader->end_us,
        .wall_start_us = head->wall_start_us,
        .state = part->state,
    };
    return 0;
}

static void add_cpu(struct profile_cpu *to, const struct profile_cpu *from)
{
    to->processes += from->processes;
    to->sampled_ns += from->sampled_ns;
    to->not_sampled_ns += from->not_sampled_ns;
    to->tree_ns += from->tree_ns;
}

/* The first file's settings: several are there to be compared, and were asked for the same. */
static void restore_settings(struct opening *opening)
{
    struct profile_cpu cpu = { 0 };

    for (size_t i = 0; i < opening->count; i++) {
        add_cpu(&cpu, &opening->readers[i].settings.cpu);
        event_store_restore(opening->profile->events, &opening->readers[i].settings.events);
    }
    if (opening->readers[0].settings.settings.period_us)
        processes_apply(opening->profile->processes, &opening->readers[0].settings.settings);
    processes_restore_cpu(opening->profile->processes, &cpu);
}

static int read_all(struct opening *opening, const char *const *files)
{
    int error = make_profile(opening);

    for (size_t i = 0; i < opening->count && !error; i++)
        error = open_file(opening, i, files[i]);
    if (error)
        return error;
    align(opening);
    for (size_t i = 0; i < opening->count && !error; i++)
        error = read_file(opening, i);
    if (!error)
        restore_settings(opening);
    return error;
}

int profile_open_saved(struct profile **out, const struct saved_options *options,
                       const char *const *files, size_t count, struct saved_problem *problem)
{
    struct opening opening = { .options = options, .count = count, .problem = problem };
    int error;

    *problem = (struct saved_problem){ 0 };
    error = count ? read_all(&opening, files) : -ISOSCOPE_INVALID;
    for (size_t i = 0; opening.readers && i < count; i++)
        session_reader_close(&opening.readers[i]);
    for (size_t i = 0; opening.heads && i < count; i++)
        session_head_free(&opening.heads[i]);
    free(opening.readers);
    free(opening.heads);
    if (error) {
        if (!*problem->reason)
            session_problem(problem, 0, "%s", error_text(error));
        profile_free(opening.profile);
        return error;
    }
    *out = opening.profile;
    return 0;
}

bool profile_is_saved(const struct profile *profile)
{
    return profile->contents;
}

bool saved_damage(struct profile *profile, struct saved_problem *out)
{
    for (size_t i = 0; profile->contents && i < profile->contents->count; i++) {
        if (!session_archive_damage(&profile->contents->parts[i].archive, out))
            continue;
        out->file = i;
        return true;
    }
    return false;
}

size_t saved_sessions(const struct profile *profile, struct saved_session *out, size_t capacity)
{
    size_t count = profile->contents ? profile->contents->count : 0;

    for (size_t i = 0; i < count && i < capacity; i++)
        out[i] = profile->contents->parts[i].facts;
    return count;
}

int64_t saved_now_us(const struct profile *profile)
{
    int64_t latest_us = 0;

    for (size_t i = 0; profile->contents && i < profile->contents->count; i++)
        if (profile->contents->parts[i].facts.end_us > latest_us)
            latest_us = profile->contents->parts[i].facts.end_us;
    return latest_us;
}

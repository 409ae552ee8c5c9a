#include "source_report.h"

#include "../generated/words.h"
#include "../text/tags.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SCRIPT UINT32_MAX

struct place {
    uint32_t script, line;
    uint32_t inclusive, exclusive;
    uint32_t counted; /* the last sample that was counted for it; 0: none */
};

/* A frame of the snapshot, on its way to its place. */
struct met {
    uint32_t script, line;
    uint32_t frame;
};

struct source_report {
    struct snapshot *snapshot;
    const struct scripts *scripts;
    const struct source_report_wish *wish;
    struct tags keys; /* of files */
    uint32_t frame;   /* of those that are met */
    bool placed;      /* all are */
    struct met *met;  /* of those frames that the report is about */
    uint32_t met_count;
    struct place *places; /* from 1 on, by script and line */
    uint32_t place_count;
    uint32_t *place_of; /* by frame of the snapshot */
    uint32_t cursor;    /* of the samples that are counted */
};

/* Work: of a frame whose file is looked up, of one that is sorted, of a place in a sample. */
enum { WORK_FRAME = 100, WORK_SORTED = 32, WORK_PLACE = 2 };

unsigned source_report_kind(const char *word)
{
    static const struct {
        const char *word;
        unsigned kind;
    } kinds[] = {
        { "Coverage", REPORT_COVERAGE },
        { "PossibleBreakpoints", REPORT_POSSIBLE_BREAKPOINTS },
        { "BranchCoverage", REPORT_BRANCH_COVERAGE },
        { "_Profile", REPORT_PROFILE },
        { "_CallSites", REPORT_CALL_SITES },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (!strcmp(kinds[i].word, word))
            return kinds[i].kind;
    return 0;
}

/* Of a file in a library; files without a number of ours have no script. */
static uint32_t number_of(struct tags *keys, const char *library_id, const char *file)
{
    char *key = NULL;

    if (asprintf(&key, "%s %s", library_id, file) < 0) {
        keys->failed = true;
        return NO_SCRIPT;
    }
    tags_add(keys, key);
    free(key);
    return keys->last;
}

/* The scripts have the first numbers; a file that is none of them gets one behind. */
static void number_scripts(struct tags *keys, const struct scripts *scripts)
{
    for (size_t i = 0; i < scripts->count; i++)
        number_of(keys, scripts->list[i].library.id,
                  scripts->list[i].file ? scripts->list[i].file : "");
}

static bool wishes(const struct source_report *report, const struct met *met)
{
    const struct source_report_wish *wish = report->wish;

    return met->script < report->scripts->count && met->line >= wish->first_line &&
           met->line <= wish->last_line &&
           (!wish->only || wish->only == &report->scripts->list[met->script]);
}

static int by_place(const void *left, const void *right)
{
    const struct met *a = left, *b = right;

    if (a->script != b->script)
        return a->script < b->script ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void meet_frame(struct source_report *report, uint32_t number)
{
    uint32_t count;
    const struct snapshot_frame *frame = &snapshot_frames(report->snapshot, &count)[number];
    const struct snapshot_function *function =
        &snapshot_functions(report->snapshot, &count)[frame->function];
    const struct snapshot_library *libraries = snapshot_libraries(report->snapshot, &count);
    const char *file = frame->file ? frame->file : function->file;
    struct met met = { .line = frame->line, .frame = number };

    if (!file || !frame->line)
        return;
    met.script = number_of(&report->keys, libraries[function->library].id, file);
    if (wishes(report, &met))
        report->met[report->met_count++] = met;
}

/* 1: call again. */
static int meet_frames(struct source_report *report, int64_t *work)
{
    uint32_t frame_count;

    snapshot_frames(report->snapshot, &frame_count);
    for (; report->frame < frame_count; report->frame++) {
        if (*work <= 0)
            return 1;
        work_off(work, WORK_FRAME);
        meet_frame(report, report->frame);
    }
    return 0;
}

static void place_frames(struct source_report *report)
{
    qsort(report->met, report->met_count, sizeof(*report->met), by_place);
    for (uint32_t i = 0; i < report->met_count; i++) {
        const struct met *met = &report->met[i];

        if (i == 0 || by_place(met, &report->met[i - 1]))
            report->places[++report->place_count] =
                (struct place){ .script = met->script, .line = met->line };
        report->place_of[met->frame] = report->place_count;
    }
}

/* A line counts once for a sample, however often it stands in its stack. */
static void count_sample(struct source_report *report, const struct snapshot_sample *sample)
{
    report->places[report->place_of[sample->frames[0]]].exclusive++;
    for (uint32_t i = 0; i < sample->depth; i++) {
        struct place *place = &report->places[report->place_of[sample->frames[i]]];

        place->inclusive += place->counted != report->cursor;
        place->counted = report->cursor;
    }
}

/* 1: call again. */
static int count_samples(struct source_report *report, int64_t *work)
{
    struct snapshot_sample sample;

    while (*work > 0 && snapshot_ready(report->snapshot, report->cursor, work)) {
        if (!snapshot_next(report->snapshot, &report->cursor, &sample))
            return 0;
        count_sample(report, &sample);
        work_off(work, (sample.depth + 1) * WORK_PLACE);
    }
    return 1;
}

int source_report_step(struct source_report *report, int64_t *work)
{
    if (!report->placed) {
        if (meet_frames(report, work))
            return 1;
        if (report->keys.failed)
            return -ISOSCOPE_NO_MEMORY;
        place_frames(report);
        work_off(work, report->met_count * WORK_SORTED);
        report->placed = true;
    }
    return count_samples(report, work);
}

/* A frame may be in the snapshot's tables and in no sample of it. */
static bool was_met(const struct place *place)
{
    return place->inclusive > 0;
}

static json_t *coverage_json(const struct place *places, uint32_t count)
{
    json_t *hits = json_array();

    for (uint32_t i = 0; i < count; i++)
        if (was_met(&places[i]))
            json_array_append_new(hits, json_integer(places[i].line));
    return json_pack("{s:o, s:[]}", "hits", hits, "misses");
}

static json_t *profile_json(const struct place *places, uint32_t count, uint32_t sample_count)
{
    json_t *positions = json_array(), *inclusive = json_array(), *exclusive = json_array();

    for (uint32_t i = 0; i < count; i++) {
        if (!was_met(&places[i]))
            continue;
        json_array_append_new(positions, json_integer(places[i].line));
        json_array_append_new(inclusive, json_integer(places[i].inclusive));
        json_array_append_new(exclusive, json_integer(places[i].exclusive));
    }
    return json_pack("{s:{s:I}, s:o, s:o, s:o}", "metadata", "sampleCount",
                     (json_int_t)sample_count, "positions", positions, "inclusiveTicks", inclusive,
                     "exclusiveTicks", exclusive);
}

static json_t *range_json(const struct source_report *report, const struct place *places,
                          uint32_t count, size_t script_index, uint32_t sample_count)
{
    unsigned kinds = report->wish->kinds;
    json_t *range = json_pack("{s:I, s:I, s:I, s:b}", "scriptIndex", (json_int_t)script_index,
                              "startPos", (json_int_t)places[0].line, "endPos",
                              (json_int_t)places[count - 1].line, "compiled", 1);

    if (kinds & REPORT_COVERAGE)
        json_object_set_new(range, "coverage", coverage_json(places, count));
    if (kinds & REPORT_BRANCH_COVERAGE)
        json_object_set_new(range, "branchCoverage", json_pack("{s:[], s:[]}", "hits", "misses"));
    if (kinds & REPORT_POSSIBLE_BREAKPOINTS)
        json_object_set_new(range, "possibleBreakpoints", json_array());
    if (kinds & REPORT_CALL_SITES)
        json_object_set_new(range, "callSites", json_array());
    if (kinds & REPORT_PROFILE)
        json_object_set_new(range, "profile", profile_json(places, count, sample_count));
    return range;
}

static uint32_t places_of_script(const struct source_report *report, uint32_t from)
{
    uint32_t to = from;

    while (to <= report->place_count && report->places[to].script == report->places[from].script)
        to++;
    return to - from;
}

json_t *source_report_json(const struct source_report *report)
{
    uint32_t sample_count = snapshot_sample_count(report->snapshot);
    json_t *ranges = json_array(), *scripts = json_array();

    for (uint32_t from = 1, count; from <= report->place_count; from += count) {
        const struct place *places = &report->places[from];

        count = places_of_script(report, from);
        json_array_append_new(
            ranges, range_json(report, places, count, json_array_size(scripts), sample_count));
        json_array_append_new(scripts, script_ref(&report->scripts->list[places->script]));
    }
    return json_pack("{s:s, s:o, s:o}", "type", TYPE_SOURCE_REPORT, "ranges", ranges, "scripts",
                     scripts);
}

void source_report_free(struct source_report *report)
{
    if (!report)
        return;
    tags_free(&report->keys);
    free(report->met);
    free(report->places);
    free(report->place_of);
    free(report);
}

int source_report_new(struct source_report **out, struct snapshot *snapshot,
                      const struct scripts *scripts, const struct source_report_wish *wish)
{
    struct source_report *report = calloc(1, sizeof(*report));
    uint32_t frame_count;

    if (!report)
        return -ISOSCOPE_NO_MEMORY;
    *report = (struct source_report){ .snapshot = snapshot, .scripts = scripts, .wish = wish };
    snapshot_frames(snapshot, &frame_count);
    report->met = calloc((size_t)frame_count + 1, sizeof(*report->met));
    report->places = calloc((size_t)frame_count + 1, sizeof(*report->places));
    report->place_of = calloc((size_t)frame_count + 1, sizeof(*report->place_of));
    number_scripts(&report->keys, scripts);
    if (!report->met || !report->places || !report->place_of || report->keys.failed) {
        source_report_free(report);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = report;
    return 0;
}

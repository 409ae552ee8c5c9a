/*
 * source_report.h - which lines of source samples have met, and how often.
 *
 *   snapshot's frames -> places (script, line) -> ticks -> ranges, one for each script
 *
 * A token position is a line.
 */
#ifndef ISOSCOPE_SOURCE_REPORT_H
#define ISOSCOPE_SOURCE_REPORT_H

#include "scripts.h"

enum source_report_kind {
    REPORT_COVERAGE = 1,
    REPORT_POSSIBLE_BREAKPOINTS = 2,
    REPORT_BRANCH_COVERAGE = 4,
    REPORT_PROFILE = 8,
    REPORT_CALL_SITES = 16,
};

/* The report's bit; 0: there is no such report. */
unsigned source_report_kind(const char *word);

struct source_report_wish {
    unsigned kinds;                    /* of enum source_report_kind */
    const struct profile_script *only; /* NULL: all scripts */
    int64_t first_line, last_line;     /* both belong to it */
};

struct source_report;

/* All three are lent, and stay. 0 or -ISOSCOPE_NO_MEMORY. */
int source_report_new(struct source_report **out, struct snapshot *snapshot,
                      const struct scripts *scripts, const struct source_report_wish *wish);
void source_report_free(struct source_report *report); /* NULL is fine */
/* 1: call again. 0 or -ISOSCOPE_NO_MEMORY. */
int source_report_step(struct source_report *report, int64_t *work);
/* SourceReport, then; NULL when out of memory. */
json_t *source_report_json(const struct source_report *report);

#endif

/*
 * line_tables.h - the line tables of each family of runtimes: code_lines.h's own.
 *
 * What they give out may be no line: below 1, or too large. code_lines.c looks at it.
 */
#ifndef ISOSCOPE_LINE_TABLES_H
#define ISOSCOPE_LINE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/* What is left of a table. */
struct line_table {
    const uint8_t *at, *end;
};

/* False: it is at its end; *out is 0. */
static inline bool line_table_byte(struct line_table *table, uint8_t *out)
{
    bool more = table->at < table->end;

    *out = more ? *table->at++ : 0;
    return more;
}

int64_t line_in_lnotab(struct line_table table, int64_t first_line, uint32_t position);
int64_t line_in_ranges(struct line_table table, int64_t first_line, uint32_t position);
int64_t line_in_locations(struct line_table table, int64_t first_line, uint32_t position);
/* excludes: jvm_packed.h */
int64_t line_in_jvm(struct line_table table, uint32_t excludes, uint32_t position);
int64_t place_in_v8(struct line_table table, uint32_t position);

/* V8's entries, one after the other. All zeros before the first one. offset: + 1, for the function's entry is
 * at -1. */
struct v8_entry {
    uint64_t offset, source;
};
bool v8_next_place(struct line_table *table, struct v8_entry *entry);
/* place: in the script, + 1; call: by which it was inlined, + 1; 0: by none. False: it is in no script. */
bool v8_source_place(uint64_t source, uint32_t *place, uint32_t *call);

#endif

/*
 * line_table.h - one unit's line table (DWARF 2 to 5): its files, and the rows its program makes.
 *
 * Ownership  The users' structs: all zeros is empty, line_files_free and line_rows_free end them.
 *            Texts are those in the sections.
 * Errors     0 or -ISOSCOPE_NO_MEMORY. A table ends where nonsense begins.
 */
#ifndef ISOSCOPE_LINE_TABLE_H
#define ISOSCOPE_LINE_TABLE_H

#include "dwarf_file.h"

struct line_file {
    const char *name;
    const char *directory; /* NULL: the unit's */
};

struct line_files {
    struct line_file *files; /* as the unit's numbers mean them */
    uint32_t count, capacity;
};

/* From start on, up to the next row's. */
struct line_row {
    uint64_t start;
    uint32_t file, line;
    bool end; /* no code of this unit follows; file and line say nothing */
};

struct line_rows {
    struct line_row *rows; /* by start, one for each */
    uint32_t count, capacity;
};

int line_files_read(struct line_files *out, const struct dwarf_sections *sections, uint64_t place);
void line_files_free(struct line_files *files);

/* Rows of code that is not in the file are left out. */
int line_rows_read(struct line_rows *out, const struct dwarf_file *file, uint64_t place);
void line_rows_free(struct line_rows *rows);

#endif

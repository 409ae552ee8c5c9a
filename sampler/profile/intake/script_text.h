/*
 * script_text.h - where the lines of a JavaScript file begin, in V8's count of characters.
 *
 *   path, as the process has it -> script_line -> line
 *
 * V8 counts UTF-16 units from the beginning of what it was given: a file without its mark of byte order. Where
 * that had another length than the file has now, it was not this text (transpiled, wrapped or
 * changed since): then there are no lines.
 *
 * Ownership  All zeros is empty; script_texts_free ends it.
 * Threads    Whoever holds the collector's round.
 * Errors     0: no line is known.
 */
#ifndef ISOSCOPE_SCRIPT_TEXT_H
#define ISOSCOPE_SCRIPT_TEXT_H

#include <stdint.h>

enum { SCRIPT_TEXTS_MAX = 4096, SCRIPT_BYTES_MAX = 32 << 20 };

struct script_texts {
    struct script_text *texts;
    uint32_t count, capacity;
    uint32_t last; /* the one that was asked for last */
};

void script_texts_free(struct script_texts *texts);

/* place: units from the beginning, + 1; units: of all of it. pid: as it is here; 0: not known. */
uint32_t script_line(struct script_texts *texts, int32_t pid, const char *path, uint32_t units,
                     uint32_t place);

#endif

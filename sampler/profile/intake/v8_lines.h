/*
 * v8_lines.h - JavaScript's codes as a feed has them, with places in scripts, into codes with lines.
 *
 *   feed_code_text (FEED_LINES_V8*) -> v8_lines -> PAIRS, or INLINED: code_inlines.h
 *
 * It is done once, when a code is met: while its file is the one that runs, and so that all that stands behind
 * (sessions, too) knows lines alone.
 *
 * Ownership  All zeros is empty; v8_lines_free ends it. The code's new table lies in here, until the next one.
 * Threads    Whoever holds the collector's round.
 */
#ifndef ISOSCOPE_V8_LINES_H
#define ISOSCOPE_V8_LINES_H

#include "script_text.h"

#include "../../feed/feed_codes.h"
#include "../naming/registry.h"
#include "module_set.h"

struct v8_lines {
    struct script_texts texts;
    uint8_t *table;
    uint32_t bytes, capacity;
};

void v8_lines_free(struct v8_lines *lines);

/* The file's name in code ends with a 0. Others than V8's are left as they are. met: the modules of inlined
 * functions are added. */
void v8_lines_convert(struct v8_lines *lines, int32_t pid, struct feed_code_text *code,
                      struct registry *registry, struct module_set *met);

#endif

/*
 * table_cursor.h - a follow_cursor as the text that clients hand back: "next" and "cursor" of the
 * table form.
 */
#ifndef ISOSCOPE_TABLE_CURSOR_H
#define ISOSCOPE_TABLE_CURSOR_H

#include "../../sampler/profile/follow.h"

enum { TABLE_CURSOR_MAX = 128 }; /* characters, with the 0 */

void table_cursor_text(const struct follow_cursor *cursor, char out[TABLE_CURSOR_MAX]);
/* False: it is none of ours. */
bool table_cursor_parse(const char *text, struct follow_cursor *out);

#endif

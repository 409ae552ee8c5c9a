/*
 * table_mark.h - a live_mark as the text that clients hand back: "next" and "cursor" of the table
 * form.
 */
#ifndef ISOSCOPE_TABLE_MARK_H
#define ISOSCOPE_TABLE_MARK_H

#include "../sampler/profile/live.h"

enum { TABLE_MARK_MAX = 128 }; /* characters, with the 0 */

void table_mark_text(const struct live_mark *mark, char out[TABLE_MARK_MAX]);
/* False: it is none of ours. */
bool table_mark_parse(const char *text, struct live_mark *out);

#endif

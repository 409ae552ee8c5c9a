/*
 * timeline_cursor_text.h - a timeline_cursor as the text that clients hand back: "next" and
 * "cursor" of _getTimeline.
 */
#ifndef ISOSCOPE_TIMELINE_CURSOR_TEXT_H
#define ISOSCOPE_TIMELINE_CURSOR_TEXT_H

#include "../../sampler/profile/timeline.h"

enum { TIMELINE_CURSOR_MAX = 48 }; /* characters, with the 0 */

void timeline_cursor_text(const struct timeline_cursor *cursor, char out[TIMELINE_CURSOR_MAX]);
/* False: it is none of ours. */
bool timeline_cursor_parse(const char *text, struct timeline_cursor *out);

#endif

#include "timeline_cursor_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void timeline_cursor_text(const struct timeline_cursor *cursor, char out[TIMELINE_CURSOR_MAX])
{
    snprintf(out, TIMELINE_CURSOR_MAX, "%" PRIu64 ".%u.%u", cursor->chunk, cursor->event,
             cursor->clears);
}

/* What does not come back as it was read (a sign, a blank, digits beyond the type) is not ours. */
bool timeline_cursor_parse(const char *text, struct timeline_cursor *out)
{
    char back[TIMELINE_CURSOR_MAX];

    if (strlen(text) >= TIMELINE_CURSOR_MAX ||
        sscanf(text, "%" SCNu64 ".%u.%u", &out->chunk, &out->event, &out->clears) != 3)
        return false;
    timeline_cursor_text(out, back);
    return !strcmp(text, back);
}

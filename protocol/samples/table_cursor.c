#include "table_cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void table_cursor_text(const struct follow_cursor *cursor, char out[TABLE_CURSOR_MAX])
{
    snprintf(out, TABLE_CURSOR_MAX, "%u.%u.%u.%u.%u.%u.%" PRIu64 ".%u.%u.%u.%u", cursor->generation,
             cursor->clears, cursor->renames, cursor->libraries, cursor->functions, cursor->frames,
             cursor->tree, cursor->nodes, cursor->threads, cursor->samples, cursor->renamed);
}

/* What does not come back as it was read (a sign, a blank, digits beyond the type) is not ours. */
bool table_cursor_parse(const char *text, struct follow_cursor *out)
{
    char back[TABLE_CURSOR_MAX];

    if (strlen(text) >= TABLE_CURSOR_MAX ||
        sscanf(text, "%u.%u.%u.%u.%u.%u.%" SCNu64 ".%u.%u.%u.%u", &out->generation, &out->clears,
               &out->renames, &out->libraries, &out->functions, &out->frames, &out->tree,
               &out->nodes, &out->threads, &out->samples, &out->renamed) != 11)
        return false;
    table_cursor_text(out, back);
    return out->generation && !strcmp(text, back);
}

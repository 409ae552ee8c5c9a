#include "table_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void table_mark_text(const struct live_mark *mark, char out[TABLE_MARK_MAX])
{
    snprintf(out, TABLE_MARK_MAX, "%u.%u.%u.%u.%u.%u.%" PRIu64 ".%u.%u.%u.%u", mark->generation,
             mark->clears, mark->renames, mark->libraries, mark->functions, mark->frames,
             mark->tree, mark->nodes, mark->threads, mark->samples, mark->renamed);
}

/* What does not come back as it was read (a sign, a blank, digits beyond the type) is not ours. */
bool table_mark_parse(const char *text, struct live_mark *out)
{
    char back[TABLE_MARK_MAX];

    if (strlen(text) >= TABLE_MARK_MAX ||
        sscanf(text, "%u.%u.%u.%u.%u.%u.%" SCNu64 ".%u.%u.%u.%u", &out->generation, &out->clears,
               &out->renames, &out->libraries, &out->functions, &out->frames, &out->tree,
               &out->nodes, &out->threads, &out->samples, &out->renamed) != 11)
        return false;
    table_mark_text(out, back);
    return out->generation && !strcmp(text, back);
}

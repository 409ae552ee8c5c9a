#include "session_contents.h"

#include <stdlib.h>

struct session_contents *session_contents_new(size_t count)
{
    struct session_contents *contents = calloc(1, sizeof(*contents));

    if (!contents)
        return NULL;
    contents->parts = calloc(count + 1, sizeof(*contents->parts));
    for (size_t i = 0; contents->parts && i < count; i++) {
        contents->count++;
        if (session_archive_new(&contents->parts[i].archive) == 0)
            continue;
        session_contents_free(contents);
        return NULL;
    }
    if (!contents->parts) {
        free(contents);
        return NULL;
    }
    return contents;
}

void session_contents_free(struct session_contents *contents)
{
    if (!contents)
        return;
    for (size_t i = 0; i < contents->count; i++) {
        struct session_part *part = &contents->parts[i];

        for (size_t word = 0; part->command && part->command[word]; word++)
            free(part->command[word]);
        free(part->command);
        free(part->path);
        free(part->producer);
        free(part->host);
        free(part->state);
        session_archive_close(&part->archive);
    }
    free(contents->parts);
    free(contents);
}

#include "session_options.h"

#include <stdlib.h>
#include <string.h>

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **copy_words(const char *const *words)
{
    size_t count = 0;
    char **copy;

    while (words[count])
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(words[i]);
        if (copy[i])
            continue;
        free_words(copy);
        return NULL;
    }
    return copy;
}

bool session_options_copy(struct session_options *out, const struct session_options *from)
{
    *out = *from;
    out->command = from->command ? (const char *const *)copy_words(from->command) : NULL;
    return out->command || !from->command;
}

void session_options_free(struct session_options *options)
{
    free_words((char **)options->command);
    options->command = NULL;
}

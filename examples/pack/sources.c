#include "sources.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

static bool is_source(const char *name)
{
    const char *ending = strrchr(name, '.');

    return ending && (!strcmp(ending, ".c") || !strcmp(ending, ".h") || !strcmp(ending, ".py") ||
                      !strcmp(ending, ".md"));
}

static int is_not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int read_file(struct sources *sources, const char *path)
{
    FILE *file = fopen(path, "r");
    size_t got;

    if (!file)
        return -1;
    do {
        char *larger = realloc(sources->text, sources->size + BUFSIZ);

        if (!larger)
            abort();
        sources->text = larger;
        got = fread(sources->text + sources->size, 1, BUFSIZ, file);
        sources->size += got;
    } while (got > 0);
    fclose(file);
    sources->file_count++;
    return 0;
}

/* A file, or a folder and all in it. */
static int read_below(struct sources *sources, const char *path, const char *name)
{
    struct stat status;

    if (lstat(path, &status) < 0)
        return -1;
    if (S_ISDIR(status.st_mode))
        return sources_read(sources, path);
    return S_ISREG(status.st_mode) && is_source(name) ? read_file(sources, path) : 0;
}

int sources_read(struct sources *sources, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_not_hidden, alphasort), status = count < 0 ? -1 : 0;
    char path[PATH_BYTES];

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (!status)
            status = read_below(sources, path, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

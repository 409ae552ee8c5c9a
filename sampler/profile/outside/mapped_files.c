#include "mapped_files.h"

#include "../../capture/system/maps.h"

#include <stdlib.h>
#include <string.h>

#define DELETED " (deleted)"

uint32_t mapped_file_bytes(const char *path)
{
    size_t bytes = strlen(path), tail = strlen(DELETED);

    return (uint32_t)(bytes > tail && !strcmp(path + bytes - tail, DELETED) ? bytes - tail : bytes);
}

static void tell(const struct maps_line *line, void (*found)(void *context, const char *path),
                 void *context)
{
    char path[MAPS_PATH_BYTES];
    uint32_t bytes = mapped_file_bytes(line->path);

    if (!line->executable || !bytes || bytes >= sizeof(path))
        return;
    memcpy(path, line->path, bytes);
    path[bytes] = 0;
    found(context, path);
}

bool mapped_files(int32_t pid, void (*found)(void *context, const char *path), void *context)
{
    struct maps_reader *reader = malloc(sizeof(*reader));
    struct maps_line line;
    bool whole;

    if (!reader || maps_open(reader, pid) < 0) {
        free(reader);
        return false;
    }
    while (maps_next(reader, &line))
        tell(&line, found, context);
    whole = reader->ended && reader->read > 0; /* a process that ends has none */
    maps_close(reader);
    free(reader);
    return whole;
}

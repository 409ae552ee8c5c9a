/* sources.h - the source files below a folder, as one text. */
#ifndef PACK_SOURCES_H
#define PACK_SOURCES_H

#include <stddef.h>

struct sources {
    char *text;
    size_t size;
    unsigned file_count;
};

/* Adds what is below, in the order of the names, so that each run is like the last.
 * 0, or -1 with errno. */
int sources_read(struct sources *sources, const char *folder);

#endif

#include "script_text.h"

#include "../base/grow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct script_text {
    char *path;
    uint32_t *starts; /* of lines, in units; NULL: the file cannot be read */
    uint32_t lines, capacity, units;
};

void script_texts_free(struct script_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        free(texts->texts[i].path);
        free(texts->texts[i].starts);
    }
    free(texts->texts);
    *texts = (struct script_texts){ 0 };
}

static bool add_start(struct script_text *text)
{
    if (!GROW(text->starts, text->lines, text->capacity))
        return false;
    text->starts[text->lines++] = text->units;
    return true;
}

static void count_units(struct script_text *text, const uint8_t *bytes, size_t count)
{
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
    size_t i = count >= sizeof(mark) && !memcmp(bytes, mark, sizeof(mark)) ? sizeof(mark) : 0;

    if (!add_start(text))
        return;
    for (; i < count; i++) {
        /* Bytes that go on with a character count nothing; the longest ones are two units. */
        text->units += (bytes[i] & 0xc0) != 0x80;
        text->units += bytes[i] >= 0xf0;
        if (bytes[i] == '\n' && !add_start(text))
            return;
    }
}

/* A plain file: another kind might not end, or keep us waiting. */
static int open_plain(const char *path, struct stat *info)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return -1;
    if (!fstat(fd, info) && S_ISREG(info->st_mode) && info->st_size > 0 &&
        info->st_size <= SCRIPT_BYTES_MAX)
        return fd;
    close(fd);
    return -1;
}

/* Read, not mapped: a file that is cut off meanwhile must not end the service. */
static void read_text(struct script_text *text, int fd, size_t size)
{
    uint8_t *bytes = malloc(size);
    size_t count = 0;
    ssize_t got = 1;

    while (bytes && count < size && got > 0) {
        got = read(fd, bytes + count, size - count);
        count += got > 0 ? (size_t)got : 0;
    }
    if (bytes)
        count_units(text, bytes, count);
    free(bytes);
}

static void read_script(struct script_text *text, int32_t pid)
{
    char path[PATH_MAX + 32];
    struct stat info;
    int fd = -1;

    if (*text->path != '/')
        return;
    if (pid > 0) {
        snprintf(path, sizeof(path), "/proc/%d/root%s", pid, text->path);
        fd = open_plain(path, &info);
    }
    if (fd < 0)
        fd = open_plain(text->path, &info);
    if (fd < 0)
        return;
    read_text(text, fd, (size_t)info.st_size);
    close(fd);
}

static const struct script_text *text_of(struct script_texts *texts, int32_t pid, const char *path)
{
    if (texts->last < texts->count && !strcmp(texts->texts[texts->last].path, path))
        return &texts->texts[texts->last];
    for (texts->last = texts->count; texts->last--;)
        if (!strcmp(texts->texts[texts->last].path, path))
            return &texts->texts[texts->last];
    if (texts->count == SCRIPT_TEXTS_MAX || !GROW(texts->texts, texts->count, texts->capacity))
        return NULL;

    struct script_text text = { .path = strdup(path) };
    if (!text.path)
        return NULL;
    read_script(&text, pid);
    texts->last = texts->count++;
    texts->texts[texts->last] = text;
    return &texts->texts[texts->last];
}

uint32_t script_line(struct script_texts *texts, int32_t pid, const char *path, uint32_t units,
                     uint32_t place)
{
    const struct script_text *text = units && place ? text_of(texts, pid, path) : NULL;
    uint32_t low = 0, high;

    if (!text || text->units != units || place - 1 > units)
        return 0;
    high = text->lines;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (text->starts[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

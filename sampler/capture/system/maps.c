#include "maps.h"

#include "pages.h"
#include "proc_path.h"

#include "../../feed/sys.h"

#include <fcntl.h>
#include <string.h>

static SIGNAL_SAFE uint64_t take_number(char **at, unsigned base)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        char c = **at;
        unsigned digit;

        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            return value;
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

static SIGNAL_SAFE bool take_char(char **at, char expected)
{
    if (**at != expected)
        return false;
    (*at)++;
    return true;
}

/* 7f01c2a00000-7f01c2a28000 r-xp 00001000 fe:01 1312 <blanks> /usr/lib/... */
bool maps_parse(char *text, struct maps_line *out)
{
    char *at = text;

    memset(out, 0, sizeof *out);
    out->start = take_number(&at, 16);
    if (!take_char(&at, '-'))
        return false;
    out->end = take_number(&at, 16);
    if (!take_char(&at, ' ') || strlen(at) < 5)
        return false;
    out->readable = at[0] == 'r';
    out->writable = at[1] == 'w';
    out->executable = at[2] == 'x';
    out->shared = at[3] == 's';
    at += 4;
    if (!take_char(&at, ' '))
        return false;
    out->offset = take_number(&at, 16);
    if (!take_char(&at, ' '))
        return false;
    out->dev_major = (uint32_t)take_number(&at, 16);
    if (!take_char(&at, ':'))
        return false;
    out->dev_minor = (uint32_t)take_number(&at, 16);
    if (!take_char(&at, ' '))
        return false;
    out->inode = take_number(&at, 10);
    while (*at == ' ')
        at++;
    out->path = at;
    return true;
}

int maps_open(struct maps_reader *reader, int32_t pid)
{
    char path[PROC_PATH_BYTES];
    long fd;

    proc_path(path, pid, "/maps");
    fd = sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return (int)fd;
    reader->fd = (int)fd;
    reader->at = reader->filled = 0;
    reader->read = 0;
    reader->ended = false;
    return 0;
}

void maps_close(struct maps_reader *reader)
{
    sys_call1(SYS_close, reader->fd);
}

/* Moves what is left to the front and reads on behind it. By place: should the program have put
 * something else on the number, nothing is taken from a pipe or a socket, nor waited for. */
static SIGNAL_SAFE void fill_buffer(struct maps_reader *reader)
{
    uint32_t left = reader->filled - reader->at;
    long got;

    memmove(reader->buffer, reader->buffer + reader->at, left);
    reader->at = 0;
    reader->filled = left;
    got = sys_call4(SYS_pread64, reader->fd, reader->buffer + left,
                    sizeof reader->buffer - left - 1, reader->read);
    if (got <= 0) {
        reader->ended = true;
    } else {
        reader->filled += (uint32_t)got;
        reader->read += (uint64_t)got;
    }
}

bool maps_next(struct maps_reader *reader, struct maps_line *out)
{
    for (;;) {
        char *line = reader->buffer + reader->at;
        char *newline = memchr(line, '\n', reader->filled - reader->at);

        if (!newline) {
            if (reader->ended)
                return false;
            fill_buffer(reader);
            continue;
        }
        *newline = 0;
        reader->at = (uint32_t)(newline + 1 - reader->buffer);
        if (maps_parse(line, out))
            return true;
    }
}

bool maps_find(uint64_t address, uint64_t *start, uint64_t *end)
{
    static struct maps_reader *reader;
    struct maps_line line;
    bool found = false;

    if (!reader && !(reader = pages_new(sizeof *reader)))
        return false;
    if (maps_open(reader, 0) < 0)
        return false;
    while (!found && maps_next(reader, &line)) {
        found = line.readable && line.start <= address && address < line.end;
        if (found) {
            *start = line.start;
            *end = line.end;
        }
    }
    maps_close(reader);
    return found;
}

#include "session_file.h"

#include "../../include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ZEROS_AT_ONCE = 65536 };

int session_problem(struct saved_problem *problem, uint64_t position, const char *format, ...)
{
    va_list words;

    problem->position = position;
    va_start(words, format);
    vsnprintf(problem->reason, sizeof(problem->reason), format, words);
    va_end(words);
    return -ISOSCOPE_DAMAGED;
}

/* False: errno says why; 0: it ends before. */
static bool read_at(const struct session_file *file, uint64_t position, uint8_t *out, size_t count)
{
    while (count) {
        ssize_t got = pread(file->fd, out, count, (off_t)position);

        if (got < 0 && errno == EINTR)
            continue;
        if (!got)
            errno = 0;
        if (got <= 0)
            return false;
        out += got;
        position += (uint64_t)got;
        count -= (size_t)got;
    }
    return true;
}

/* After read_at; the file was opened with a length. */
static const char *why_unread(void)
{
    return errno ? strerror(errno) : "it is shorter than its length says";
}

static int check_head(struct session_file *file, struct saved_problem *problem)
{
    struct bytes expected = { 0 };
    uint8_t head[SESSION_HEAD_BYTES];
    bool ours;

    if (!file->bytes)
        return session_problem(problem, 0, "the file is empty");
    if (file->bytes < sizeof(head))
        return session_problem(problem, file->bytes, "it ends within its head: it is no session");
    if (!read_at(file, 0, head, sizeof(head)))
        return session_problem(problem, 0, "its head cannot be read: %s", why_unread());
    session_head_put(&expected);
    ours = !expected.failed && !memcmp(head, expected.data, 8);
    bytes_free(&expected);
    if (head[0] == 0x1f && head[1] == 0x8b)
        return session_problem(problem, 0,
                               "it is packed by gzip, as pprof's profiles are, and no "
                               "isoscope session");
    if (!ours)
        return session_problem(problem, 0, "it is no isoscope session");
    if (bytes_read_u32(head + 8) > SESSION_VERSION)
        return session_problem(problem, 8,
                               "it is of version %u, and this isoscope reads up to version %d: use "
                               "a newer isoscope",
                               bytes_read_u32(head + 8), SESSION_VERSION);
    if (bytes_read_u32(head + 8) == 0 || bytes_read_u32(head + 12) != 0)
        return session_problem(problem, 8, "its head is damaged");
    return 0;
}

int session_file_open(struct session_file *file, const char *path, struct saved_problem *problem)
{
    struct stat there;
    int error;

    *file = (struct session_file){ .path = path };
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file->fd < 0 || fstat(file->fd, &there) < 0) {
        session_problem(problem, 0, "%s", strerror(errno));
        session_file_close(file);
        return -ISOSCOPE_NOT_FOUND;
    }
    if (!S_ISREG(there.st_mode)) {
        session_file_close(file);
        return session_problem(problem, 0, "it is no file");
    }
    file->bytes = (uint64_t)there.st_size;
    error = check_head(file, problem);
    if (error)
        session_file_close(file);
    session_file_rewind(file);
    return error;
}

void session_file_close(struct session_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

void session_file_rewind(struct session_file *file)
{
    file->position = SESSION_HEAD_BYTES;
    file->cut_bytes = 0;
}

/* A machine that died may have made a file longer and not written what was to be there. */
static bool is_zero_from(const struct session_file *file, uint64_t position)
{
    uint8_t bytes[ZEROS_AT_ONCE];

    while (position < file->bytes) {
        uint64_t left = file->bytes - position;
        size_t count = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

        if (!read_at(file, position, bytes, count))
            return false;
        for (size_t i = 0; i < count; i++)
            if (bytes[i])
                return false;
        position += count;
    }
    return true;
}

int session_file_next(struct session_file *file, struct block_place *out,
                      struct saved_problem *problem)
{
    uint64_t left = file->bytes - file->position;
    uint8_t head[BLOCK_HEAD_BYTES];
    static const uint8_t zeros[BLOCK_HEAD_BYTES];

    out->position = file->position;
    file->cut_bytes = left;
    if (left < sizeof(head))
        return 0;
    if (!read_at(file, file->position, head, sizeof(head)))
        return session_problem(problem, file->position, "a block's head cannot be read: %s",
                               why_unread());
    if (!memcmp(head, zeros, sizeof(head)) && is_zero_from(file, file->position))
        return 0;
    if (!block_head_read(head, &out->head))
        return session_problem(problem, file->position, "the head of a block is damaged");
    if (left - sizeof(head) < out->head.stored)
        return 0;
    file->position += sizeof(head) + out->head.stored;
    file->cut_bytes = file->bytes - file->position;
    return 1;
}

/* What is to be shown of a type that may be any bytes. */
static const char *shown(const struct block_place *place, char out[8])
{
    for (int i = 0; i < 5; i++)
        out[i] = place->head.type[i] && (place->head.type[i] < 32 || place->head.type[i] > 126)
                     ? '?'
                     : place->head.type[i];
    return out;
}

int session_file_read(const struct session_file *file, const struct block_place *place,
                      struct bytes *stored, struct saved_problem *problem)
{
    uint64_t at = place->position + BLOCK_HEAD_BYTES;
    char type[8];

    bytes_clear(stored);
    if (!bytes_reserve(stored, (size_t)place->head.stored + 1)) {
        session_problem(problem, place->position, "out of memory");
        return -ISOSCOPE_NO_MEMORY;
    }
    if (!read_at(file, at, stored->data, place->head.stored))
        return session_problem(problem, at, "block '%s' cannot be read: %s", shown(place, type),
                               why_unread());
    stored->count = place->head.stored;
    if (block_checksum(stored->data, stored->count) != place->head.checksum)
        return session_problem(problem, place->position,
                               "block '%s' is damaged: its checksum differs", shown(place, type));
    return 0;
}

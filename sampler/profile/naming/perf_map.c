#include "perf_map.h"

#include "../../include/isoscope/isoscope.h"
#include "perf_map_file.h"
#include "interval_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOOK_US = 20000,                  /* from one look to the next, */
    LOOK_US_PER_LINE = 4,             /* and longer when all the lines are sorted each time */
    READ_BYTES = 64 * 1024,           /* a line that is longer is none */
    LOOK_BYTES = 16 << 20,            /* the rest at the next look */
    NAME_BYTES_MAX = 512,             /* the rest of a longer one is not shown */
    LINE_BYTES = NAME_BYTES_MAX + 64, /* two numbers and the name */
};

struct line {
    struct interval_range range;
    uint64_t at;   /* in the file */
    uint32_t name; /* number; 0: not asked for yet */
};

struct perf_map {
    int32_t pid;
    int fd;              /* -1: none yet */
    uint64_t read_bytes; /* up to there it is read */
    bool in_long_line;
    bool lied; /* its lines are not what they were */
    int64_t next_look_us;
    struct line *lines; /* in the file's order */
    uint32_t count, capacity;
    struct interval_map shown;
};

int perf_map_new(struct perf_map **out, int32_t pid)
{
    struct perf_map *map = calloc(1, sizeof(*map));

    if (!map)
        return -ISOSCOPE_NO_MEMORY;
    map->pid = pid;
    map->fd = -1;
    *out = map;
    return 0;
}

void perf_map_free(struct perf_map *map)
{
    if (!map)
        return;
    if (map->fd >= 0)
        close(map->fd);
    interval_map_free(&map->shown);
    free(map->lines);
    free(map);
}

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Reads a number and the blanks after it. NULL: there is none, or it is too large. */
static const char *read_hex(const char *at, const char *end, uint64_t *out)
{
    const char *first;

    if (end - at > 2 && at[0] == '0' && at[1] == 'x')
        at += 2;
    first = at;
    for (*out = 0; at < end && hex_digit(*at) >= 0; at++) {
        if (at - first >= 16)
            return NULL;
        *out = *out << 4 | (uint64_t)hex_digit(*at);
    }
    if (at == first || at == end || *at != ' ')
        return NULL;
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* end: its newline. Returns where the name begins; NULL: it says nothing. */
static const char *parse(const char *at, const char *end, struct interval_range *out)
{
    uint64_t bytes;

    at = read_hex(at, end, &out->start);
    if (at)
        at = read_hex(at, end, &bytes);
    if (!at || at == end || bytes == 0 || out->start + bytes < out->start)
        return NULL;
    out->end = out->start + bytes;
    return at;
}

static bool add_line(struct perf_map *map, struct line line)
{
    if (map->count == map->capacity) {
        uint32_t capacity = map->capacity ? map->capacity * 2 : 1024;
        struct line *larger;

        if (map->count >= PERF_MAP_LINES_MAX)
            return false;
        larger = reallocarray(map->lines, capacity, sizeof(*larger));
        if (!larger)
            return false;
        map->lines = larger;
        map->capacity = capacity;
    }
    map->lines[map->count++] = line;
    return true;
}

/* Takes the whole lines of what was read. Returns their bytes; stops when there is no room. */
static size_t take_lines(struct perf_map *map, const char *text, size_t bytes)
{
    const char *at = text, *end;

    for (; (end = memchr(at, '\n', bytes - (size_t)(at - text))); at = end + 1) {
        struct line line = { .at = map->read_bytes + (uint64_t)(at - text) };

        if (!map->in_long_line && parse(at, end, &line.range) && !add_line(map, line))
            break;
        map->in_long_line = false;
    }
    return (size_t)(at - text);
}

/* Returns whether to go on. */
static bool read_some(struct perf_map *map)
{
    char text[READ_BYTES];
    ssize_t bytes = pread(map->fd, text, sizeof(text), (off_t)map->read_bytes);
    size_t taken;

    if (bytes <= 0)
        return false;
    taken = take_lines(map, text, (size_t)bytes);
    if (!taken && bytes == READ_BYTES && !memchr(text, '\n', sizeof(text))) {
        map->in_long_line = true;
        taken = sizeof(text);
    }
    map->read_bytes += taken;
    return taken > 0;
}

/* Lines that others cover altogether are of no use any more. */
static void drop_covered(struct perf_map *map)
{
    uint32_t *moved = calloc((size_t)map->count + 1, sizeof(*moved)), kept = 0;

    if (!moved)
        return;
    for (uint32_t i = 0; i < map->shown.count; i++)
        if (map->shown.list[i].range != INTERVAL_NONE)
            moved[map->shown.list[i].range] = 1;
    for (uint32_t i = 0; i < map->count; i++) {
        if (!moved[i])
            continue;
        moved[i] = kept;
        map->lines[kept++] = map->lines[i];
    }
    map->count = kept;
    for (uint32_t i = 0; i < map->shown.count; i++)
        if (map->shown.list[i].range != INTERVAL_NONE)
            map->shown.list[i].range = moved[map->shown.list[i].range];
    free(moved);
}

static void read_on(struct perf_map *map)
{
    uint64_t from = map->read_bytes;
    uint32_t before = map->count;

    while (map->read_bytes - from < LOOK_BYTES && read_some(map))
        ;
    if (map->count == before)
        return;
    if (interval_map_build(&map->shown, map->lines, map->count, sizeof(*map->lines)) < 0) {
        /* As if not read: the map does not know the new lines. */
        map->count = before;
        map->read_bytes = from;
        return;
    }
    drop_covered(map);
}

static void forget_entries(struct perf_map *map)
{
    close(map->fd);
    map->fd = -1;
    map->read_bytes = 0;
    map->in_long_line = map->lied = false;
    map->count = 0;
    interval_map_free(&map->shown);
}

/* Another file has its name now, or it was cut off and written anew. */
static bool is_another(const struct perf_map *map, int fd)
{
    struct stat ours, theirs;

    return map->lied || fstat(map->fd, &ours) < 0 || (uint64_t)ours.st_size < map->read_bytes ||
           (fd >= 0 && fstat(fd, &theirs) == 0 &&
            (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev));
}

static void look_at_file(struct perf_map *map)
{
    int fd = perf_map_file_open(map->pid);

    if (map->fd >= 0 && is_another(map, fd))
        forget_entries(map);
    if (map->fd < 0)
        map->fd = fd;
    else if (fd >= 0)
        close(fd);
    if (map->fd >= 0)
        read_on(map);
}

static uint32_t read_name(struct perf_map *map, struct line *line, struct names *names)
{
    char text[LINE_BYTES + 1];
    ssize_t bytes = pread(map->fd, text, LINE_BYTES, (off_t)line->at);
    struct interval_range range;
    const char *name, *end;

    if (bytes < 0)
        bytes = 0;
    end = memchr(text, '\n', (size_t)bytes);
    if (!end)
        end = text + bytes;
    name = parse(text, end, &range);
    map->lied = !name || range.start != line->range.start || range.end != line->range.end;
    if (map->lied)
        return 0;
    text[end - text] = 0;
    if (end - name > NAME_BYTES_MAX)
        text[name - text + NAME_BYTES_MAX] = 0;
    return names_number(names, name);
}

uint32_t perf_map_name(struct perf_map *map, uint64_t pc, int64_t now_us, struct names *names)
{
    uint32_t number;
    struct line *line;

    if (now_us >= map->next_look_us) {
        look_at_file(map);
        map->next_look_us = now_us + LOOK_US + (int64_t)map->count * LOOK_US_PER_LINE;
    }
    if (!interval_map_find(&map->shown, pc, &number))
        return 0;
    line = &map->lines[number];
    if (!line->name)
        line->name = read_name(map, line, names);
    return line->name;
}

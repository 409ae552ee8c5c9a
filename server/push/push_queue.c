#include "push_queue.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".profile"

struct push_queue {
    int folder;
    size_t bytes_max;
    unsigned number; /* of the next file */
    _Atomic uint64_t dropped, aged;
};

static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return -ISOSCOPE_SYSTEM;
        *slash = '/';
    }
    return mkdir(path, 0700) < 0 && errno != EEXIST ? -ISOSCOPE_SYSTEM : 0;
}

int push_queue_open(struct push_queue **out, const char *folder, size_t bytes_max)
{
    struct push_queue *queue = calloc(1, sizeof(*queue));
    char path[PATH_MAX];

    if (!queue)
        return -ISOSCOPE_NO_MEMORY;
    queue->bytes_max = bytes_max;
    snprintf(path, sizeof(path), "%s", folder);
    queue->folder = make_folders(path) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->folder < 0) {
        free(queue);
        return -ISOSCOPE_SYSTEM;
    }
    *out = queue;
    return 0;
}

void push_queue_free(struct push_queue *queue)
{
    if (!queue)
        return;
    close(queue->folder);
    free(queue);
}

static bool is_ours(const char *name)
{
    size_t length = strlen(name), ending = strlen(ENDING);

    return length > ending && name[0] >= '0' && name[0] <= '9' &&
           !strcmp(name + length - ending, ENDING);
}

/* Names begin with their time, in as many digits each: the first one is the oldest. */
static int oldest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int chosen(const struct dirent *entry)
{
    return is_ours(entry->d_name);
}

static int list(struct push_queue *queue, struct dirent ***out)
{
    int count = scandirat(queue->folder, ".", out, chosen, oldest_first);

    return count < 0 ? 0 : count;
}

static void free_list(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count)
        free(entries);
}

static size_t size_of(struct push_queue *queue, const char *name)
{
    struct stat info;

    return fstatat(queue->folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : (size_t)info.st_size;
}

/* -1: it is gone, or somebody sends it. */
static int open_locked(struct push_queue *queue, const char *name)
{
    int fd = openat(queue->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && size_of(queue, name)) /* not sent meanwhile */
        return fd;
    close(fd);
    return -1;
}

static bool drop(struct push_queue *queue, const char *name)
{
    int fd = open_locked(queue, name);

    if (fd < 0)
        return false;
    unlinkat(queue->folder, name, 0);
    close(fd);
    return true;
}

/* The oldest go until there is room. */
static void make_room(struct push_queue *queue, size_t wanted)
{
    struct dirent **entries;
    int count = list(queue, &entries);
    size_t bytes = wanted;

    for (int i = 0; i < count; i++)
        bytes += size_of(queue, entries[i]->d_name);
    for (int i = 0; i < count && bytes > queue->bytes_max; i++) {
        size_t size = size_of(queue, entries[i]->d_name);

        if (!drop(queue, entries[i]->d_name))
            continue;
        bytes -= size;
        queue->dropped++;
    }
    free_list(entries, count);
}

/* The labels, a line each, an empty line, and the profile. */
static void compose(struct json_text *text, const struct push_profile *profile, const char *bytes,
                    size_t length)
{
    for (unsigned i = 0; i < profile->labels.count; i++) {
        const struct push_label *label = &profile->labels.list[i];

        json_text_raw(text, label->name, strlen(label->name));
        json_text_literal(text, "=");
        json_text_raw(text, label->value, strlen(label->value));
        json_text_literal(text, "\n");
    }
    json_text_literal(text, "\n");
    json_text_raw(text, bytes, length);
}

static int write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -ISOSCOPE_SYSTEM;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static int write_file(struct push_queue *queue, const char *name, const struct json_text *text)
{
    char unfinished[160];
    int fd, status;

    snprintf(unfinished, sizeof(unfinished), ".%s", name);
    fd = openat(queue->folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -ISOSCOPE_SYSTEM;
    status = write_all(fd, text->data, text->length);
    close(fd);
    if (status == 0 && renameat(queue->folder, unfinished, queue->folder, name) == 0)
        return 0;
    unlinkat(queue->folder, unfinished, 0);
    return -ISOSCOPE_SYSTEM;
}

int push_queue_put(struct push_queue *queue, const struct push_profile *profile, const char *bytes,
                   size_t length)
{
    struct json_text text = { 0 };
    char name[128];
    int status = -ISOSCOPE_NO_MEMORY;

    compose(&text, profile, bytes, length);
    snprintf(name, sizeof(name), "%013" PRId64 "-%013" PRId64 "-%s-%d-%u" ENDING, profile->begin_ms,
             profile->end_ms, profile->kind, (int)getpid(), queue->number++);
    if (!text.failed && text.length > queue->bytes_max) {
        queue->dropped++;
        status = 0;
    } else if (!text.failed) {
        make_room(queue, text.length);
        status = write_file(queue, name, &text);
    }
    json_text_free(&text);
    return status;
}

static bool read_name(struct push_profile *profile, const char *name)
{
    return sscanf(name, "%13" SCNd64 "-%13" SCNd64 "-%15[a-z_]-", &profile->begin_ms,
                  &profile->end_ms, profile->kind) == 3;
}

/* False: the file is not as we write them. */
static bool read_labels(struct push_entry *entry, size_t length)
{
    char *at = entry->content, *end = at + length, *line, *value;

    while ((line = memchr(at, '\n', (size_t)(end - at)))) {
        *line = '\0';
        if (line == at) {
            entry->bytes = line + 1;
            entry->length = (size_t)(end - entry->bytes);
            return true;
        }
        value = strchr(at, '=');
        if (!value)
            return false;
        *value = '\0';
        push_label_add(&entry->profile.labels, at, value + 1);
        at = line + 1;
    }
    return false;
}

static bool read_content(struct push_entry *entry)
{
    struct stat info;
    size_t length = 0;
    ssize_t got = 1;

    if (fstat(entry->fd, &info) < 0 || !(entry->content = malloc((size_t)info.st_size + 1)))
        return false;
    while (length < (size_t)info.st_size && got > 0) {
        got = read(entry->fd, entry->content + length, (size_t)info.st_size - length);
        length += got > 0 ? (size_t)got : 0;
    }
    return length == (size_t)info.st_size && read_labels(entry, length);
}

/* False: it is not for sending. */
static bool take(struct push_queue *queue, const char *name, int64_t now_ms, struct push_entry *out)
{
    *out = (struct push_entry){ .fd = open_locked(queue, name) };
    if (out->fd < 0)
        return false;
    snprintf(out->name, sizeof(out->name), "%s", name);
    if (read_name(&out->profile, name) && out->profile.begin_ms > now_ms - PUSH_AGE_MS_MAX &&
        read_content(out))
        return true;
    queue->aged++;
    push_queue_done(queue, out, true);
    return false;
}

bool push_queue_take(struct push_queue *queue, int64_t now_ms, struct push_entry *out)
{
    struct dirent **entries;
    int count = list(queue, &entries);
    bool found = false;

    for (int i = 0; i < count && !found; i++)
        found = take(queue, entries[i]->d_name, now_ms, out);
    free_list(entries, count);
    return found;
}

void push_queue_done(struct push_queue *queue, struct push_entry *entry, bool gone)
{
    if (gone)
        unlinkat(queue->folder, entry->name, 0);
    close(entry->fd);
    free(entry->content);
    entry->content = NULL;
}

unsigned push_queue_waiting(struct push_queue *queue)
{
    struct dirent **entries;
    int count = list(queue, &entries);

    free_list(entries, count);
    return (unsigned)count;
}

uint64_t push_queue_dropped(struct push_queue *queue)
{
    return queue->dropped;
}

uint64_t push_queue_aged(struct push_queue *queue)
{
    return queue->aged;
}

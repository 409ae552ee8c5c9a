#include "kept_feeds.h"

#include "../console/log_line.h"
#include "../feeds/feed_hello.h"
#include "../feeds/process_files.h"
#include "../net/loop.h"
#include "room_link.h"
#include "rooms.h"
#include "supervised.h"

#include "../../sampler/feed/message.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of one process: "feed.PID.START.UID.GID.", and a letter for each descriptor. START is the kernel's, for
 * a number may be another process' by then. */
#define FEED_NAME  "feed.%d.%" PRIu64 ".%u.%u."
#define TOKEN_NAME "token.%u.%u"

static const char letters[] = { 'm', 'c', 'f' }; /* memory, clock, page faults */
enum { LETTERS = sizeof(letters) };

struct kept_feeds {
    struct loop *loop;
    struct supervised *supervised;
    struct kept *first;
};

struct kept {
    struct kept_feeds *all;
    struct kept *next, **link; /* link: what points to this one */
    char name[SUPERVISED_NAME_BYTES - 2];
};

static void descriptors_of(const struct feed_greeting *greeting, int out[LETTERS])
{
    out[0] = greeting->memfd;
    out[1] = greeting->clock;
    out[2] = greeting->faults;
}

static void name_of(char out[SUPERVISED_NAME_BYTES], const char *name, size_t letter)
{
    snprintf(out, SUPERVISED_NAME_BYTES, "%s%c", name, letters[letter]);
}

static void forget(struct kept *kept)
{
    char name[SUPERVISED_NAME_BYTES];

    for (size_t i = 0; i < LETTERS; i++) {
        name_of(name, kept->name, i);
        supervised_forget(kept->all->supervised, name);
    }
}

static bool process_ended(void *context)
{
    forget(context);
    return false;
}

static void watch_ended(void *context)
{
    struct kept *kept = context;

    *kept->link = kept->next;
    if (kept->next)
        kept->next->link = kept->link;
    free(kept);
}

/* A program that says hello once more has made a new feed: the name is the same. */
static struct kept *find(struct kept_feeds *all, const char *name)
{
    for (struct kept *kept = all->first; kept; kept = kept->next)
        if (!strcmp(kept->name, name))
            return kept;
    return NULL;
}

static struct kept *watch(struct kept_feeds *all, pid_t pid, const char *name)
{
    static const struct io_watch_events events = { .ready = process_ended, .ended = watch_ended };
    struct kept *kept = calloc(1, sizeof(*kept));
    int pidfd = kept ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (pidfd < 0) {
        free(kept);
        return NULL;
    }
    kept->all = all;
    snprintf(kept->name, sizeof(kept->name), "%s", name);
    if (loop_watch(all->loop, NULL, pidfd, &events, kept) < 0) {
        free(kept);
        return NULL;
    }
    kept->next = all->first;
    kept->link = &all->first;
    if (kept->next)
        kept->next->link = &kept->next;
    all->first = kept;
    return kept;
}

static void say_name(const struct feed_greeting *greeting, char out[SUPERVISED_NAME_BYTES - 2])
{
    snprintf(out, SUPERVISED_NAME_BYTES - 2, FEED_NAME, (int)greeting->pid,
             process_start(greeting->pid), (unsigned)greeting->uid, (unsigned)greeting->gid);
}

void kept_feeds_add(struct kept_feeds *all, const struct feed_greeting *greeting)
{
    char base[SUPERVISED_NAME_BYTES - 2], name[SUPERVISED_NAME_BYTES];
    int descriptors[LETTERS];
    struct kept *kept;

    if (!all)
        return;
    say_name(greeting, base);
    kept = find(all, base);
    if (kept)
        forget(kept);
    else if (!watch(all, greeting->pid, base))
        return;
    descriptors_of(greeting, descriptors);
    for (size_t i = 0; i < LETTERS; i++) {
        name_of(name, base, i);
        if (descriptors[i] >= 0)
            supervised_store(all->supervised, name, descriptors[i]);
    }
}

void kept_feeds_add_user(struct kept_feeds *all, const struct room *room)
{
    char name[SUPERVISED_NAME_BYTES];
    int memory;

    if (!all)
        return;
    snprintf(name, sizeof(name), TOKEN_NAME, (unsigned)room->uid, (unsigned)room->gid);
    memory = memfd_create(name, MFD_CLOEXEC);
    if (memory < 0)
        return;
    if (write(memory, room->token, sizeof(room->token)) == (ssize_t)sizeof(room->token)) {
        supervised_forget(all->supervised, name);
        supervised_store(all->supervised, name, memory);
    }
    close(memory);
}

/* ---- at the next start ---- */

static void adopt_token(struct kept_feeds *all, struct rooms *rooms, size_t number)
{
    const char *name = supervised_name(all->supervised, number);
    char token[TOKEN_TEXT_BYTES];
    unsigned uid, gid;
    struct room *room;
    int end = 0;

    if (sscanf(name, TOKEN_NAME "%n", &uid, &gid, &end) < 2 || name[end] ||
        pread(supervised_peek(all->supervised, number), token, sizeof(token), 0) !=
            (ssize_t)sizeof(token) ||
        strnlen(token, sizeof(token)) != sizeof(token) - 1)
        return;
    room = rooms_prepare(rooms, uid, gid);
    if (!room)
        return;
    memcpy(room->token, token, sizeof(room->token));
    kept_feeds_add_user(all, room); /* instead of the one that it was made with */
}

/* Fills in all but the descriptors. False: it is no such name, or the process has ended. */
static bool read_name(const char *name, struct feed_greeting *out, char *letter)
{
    char path[64];
    unsigned uid, gid;
    uint64_t start;
    ssize_t length;
    int pid, end = 0;

    if (sscanf(name, "feed.%d.%" SCNu64 ".%u.%u.%c%n", &pid, &start, &uid, &gid, letter, &end) <
            5 ||
        name[end] || process_start(pid) != start)
        return false;
    *out = (struct feed_greeting){ .uid = uid,
                                   .gid = gid,
                                   .pid = pid,
                                   .memfd = -1,
                                   .clock = -1,
                                   .faults = -1,
                                   .origin = FEED_ORIGIN_EXEC };
    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    length = readlink(path, out->exe, sizeof(out->exe) - 1);
    return length > 0;
}

/* Those of the same process, by their letters. */
static void take_descriptors(struct kept_feeds *all, struct feed_greeting *greeting,
                             const char *base)
{
    size_t length = strlen(base);

    for (size_t i = 0; i < supervised_count(all->supervised); i++) {
        const char *name = supervised_name(all->supervised, i);
        int *place;

        if (strncmp(name, base, length) != 0)
            continue;
        place = name[length] == 'm'   ? &greeting->memfd
                : name[length] == 'c' ? &greeting->clock
                : name[length] == 'f' ? &greeting->faults
                                      : NULL;
        if (place && *place < 0)
            *place = supervised_take(all->supervised, i);
    }
}

static void close_feed(const struct feed_greeting *greeting)
{
    if (greeting->memfd >= 0)
        close(greeting->memfd);
    if (greeting->clock >= 0)
        close(greeting->clock);
    if (greeting->faults >= 0)
        close(greeting->faults);
}

static bool pass(struct rooms *rooms, const struct feed_greeting *greeting)
{
    struct room *room = rooms_prepare(rooms, greeting->uid, greeting->gid);

    if (!room || greeting->memfd < 0)
        return false;
    if (!room->watch) {
        if (!rooms_have_tables(rooms, greeting->uid))
            return false;
        room->adopted = true;
    }
    room = rooms_enter(rooms, greeting->uid, greeting->gid);
    return room && room_link_feed(room->link, greeting);
}

/* False: what is stored is of no use any more. */
static bool adopt_feed(struct kept_feeds *all, struct rooms *rooms, const char *name)
{
    struct feed_greeting greeting;
    char base[SUPERVISED_NAME_BYTES - 2], letter;
    bool passed;

    if (!read_name(name, &greeting, &letter))
        return false;
    say_name(&greeting, base);
    take_descriptors(all, &greeting, base);
    passed = pass(rooms, &greeting) && watch(all, greeting.pid, base);
    close_feed(&greeting);
    return passed;
}

void kept_feeds_adopt(struct kept_feeds *all, struct rooms *rooms)
{
    size_t count = supervised_count(all->supervised), feeds = 0;

    for (size_t i = 0; i < count; i++)
        if (!strncmp(supervised_name(all->supervised, i), "token.", 6))
            adopt_token(all, rooms, i);
    for (size_t i = 0; i < count; i++) {
        const char *name = supervised_name(all->supervised, i);

        if (strncmp(name, "feed.", 5) != 0 || supervised_peek(all->supervised, i) < 0)
            continue;
        if (adopt_feed(all, rooms, name))
            feeds++;
        else
            supervised_forget(all->supervised, name);
    }
    if (feeds)
        log_line("%zu programs that were sampled before are sampled on", feeds);
}

int kept_feeds_new(struct kept_feeds **out, struct loop *loop, struct supervised *supervised)
{
    struct kept_feeds *kept = calloc(1, sizeof(*kept));

    if (!kept)
        return -ISOSCOPE_NO_MEMORY;
    kept->loop = loop;
    kept->supervised = supervised;
    *out = kept;
    return 0;
}

void kept_feeds_free(struct kept_feeds *kept)
{
    free(kept);
}

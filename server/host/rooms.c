#include "rooms.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../net/loop.h"
#include "room_link.h"
#include "room_process.h"
#include "user_folder.h"

#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    REST_MS = 2000,       /* after its end, a room's process is not started again for so long */
    LEAVE_MS_MAX = 15000, /* so long they may take to end: they push, and write their history */
    LEAVE_LOOK_MS = 10,
};

struct rooms {
    struct rooms_options options;
    struct room *list[ROOMS_MAX];
    size_t count;
    bool said_full;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void folder_path(const struct rooms *rooms, uid_t uid, char out[ROOM_TABLES_BYTES])
{
    snprintf(out, ROOM_TABLES_BYTES, "%.107s.%u", rooms->options.socket, (unsigned)uid);
}

bool rooms_have_tables(const struct rooms *rooms, uid_t uid)
{
    char path[ROOM_TABLES_BYTES];
    struct stat info;
    int folder;
    bool have;

    folder_path(rooms, uid, path);
    folder = user_folder_open(path, uid);
    if (folder < 0)
        return false;
    have = fstatat(folder, &FEED_USER_TABLES_NAME[1], &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info.st_mode) && info.st_uid == uid && info.st_size >= FEED_TABLE_ALIGN;
    close(folder);
    return have;
}

/* Tables that no feed of ours refers to would be taken for those of a service that stands still. */
static void make_folder(const struct room *room)
{
    char path[ROOM_TABLES_BYTES];
    int folder;

    folder_path(room->rooms, room->uid, path);
    folder = user_folder_make(path, room->uid, room->gid);
    if (folder < 0) {
        log_line("%s is not a folder of user %s alone: %s", path, room->user, strerror(errno));
        return;
    }
    if (!room->adopted)
        unlinkat(folder, &FEED_USER_TABLES_NAME[1], 0);
    close(folder);
}

static void remove_folder(const struct room *room)
{
    char path[ROOM_TABLES_BYTES];
    int folder;

    if (room->rooms->options.keeps_tables)
        return;
    folder_path(room->rooms, room->uid, path);
    folder = user_folder_open(path, room->uid);
    if (folder < 0)
        return;
    unlinkat(folder, &FEED_USER_TABLES_NAME[1], 0);
    close(folder);
    rmdir(path);
}

/* Nothing ever comes but the end. */
static bool link_ready(void *context)
{
    (void)context;
    return false;
}

static void say_end(const struct room *room, int status)
{
    if (WIFSIGNALED(status))
        log_line("the service of user %s was killed by signal %d (%s); it is started again when it "
                 "is needed",
                 room->user, WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        log_line("the service of user %s ended with status %d", room->user, WEXITSTATUS(status));
}

static void link_ended(void *context)
{
    struct room *room = context;
    int status = 0;

    room->watch = NULL;
    room->link = -1;
    room->adopted = false;
    if (!room->process)
        return;
    kill(room->process, SIGKILL); /* it could have closed the link, and stayed */
    waitpid(room->process, &status, 0);
    say_end(room, status);
    room->process = 0;
    room->ended_ms = now_ms();
}

/* Where what is kept for the user is. "": nothing is, and why is said. */
static void make_state(const struct room *room, char out[ROOM_STATE_BYTES])
{
    const char *state = room->rooms->options.state;
    int folder = -1;

    out[0] = '\0';
    if (!state)
        return;
    if ((size_t)snprintf(out, ROOM_STATE_BYTES, "%s/%u", state, (unsigned)room->uid) >=
        ROOM_STATE_BYTES)
        errno = ENAMETOOLONG;
    else if (state_folder_make(state) == 0)
        folder = user_folder_make(out, room->uid, room->gid);
    if (folder < 0) {
        log_line("nothing is kept for user %s: %s: %s", room->user, out, strerror(errno));
        out[0] = '\0';
        return;
    }
    close(folder);
}

static bool begin(struct room *room)
{
    struct room_message message = { .word = ROOM_BEGIN };
    const struct rooms_options *options = &room->rooms->options;
    char folder[ROOM_TABLES_BYTES];

    message.begin.port = options->port;
    message.begin.tables_continue = options->keeps_tables;
    memcpy(message.begin.token, room->token, sizeof(message.begin.token));
    snprintf(message.begin.user, sizeof(message.begin.user), "%s", room->user);
    make_state(room, message.begin.state);
    folder_path(room->rooms, room->uid, folder);
    if ((size_t)snprintf(message.begin.tables, sizeof(message.begin.tables), "%s%s", folder,
                         FEED_USER_TABLES_NAME) >= sizeof(message.begin.tables))
        return false;
    return room_link_begin(room->link, &message);
}

static bool start(struct room *room)
{
    static const struct io_watch_events events = { .ready = link_ready, .ended = link_ended };
    const struct room_owner owner = { room->uid, room->gid };
    int ends[2];

    if (room_link_new(ends) < 0) {
        log_line("cannot start the service of user %s: %s", room->user, strerror(errno));
        return false;
    }
    make_folder(room);
    room->process = room_process_start(&owner, ends[1], room->rooms->options.words);
    close(ends[1]);
    if (room->process < 0) {
        log_line("cannot start the service of user %s: %s", room->user, strerror(errno));
        room->process = 0;
        close(ends[0]);
        return false;
    }
    room->link = ends[0];
    if (loop_watch(room->rooms->options.loop, &room->watch, ends[0], &events, room) < 0) {
        link_ended(room);
        return false;
    }
    return begin(room);
}

static struct room *find(struct rooms *rooms, uid_t uid)
{
    for (size_t i = 0; i < rooms->count; i++)
        if (rooms->list[i]->uid == uid)
            return rooms->list[i];
    return NULL;
}

static bool make_token(struct room *room)
{
    uint8_t token[TOKEN_BYTES];

    if (token_random(token) < 0)
        return false;
    token_text(room->token, token);
    return true;
}

struct room *rooms_prepare(struct rooms *rooms, uid_t uid, gid_t gid)
{
    struct room *room = find(rooms, uid);
    const struct passwd *user;

    if (room)
        return room;
    if (rooms->count == ROOMS_MAX) {
        if (!rooms->said_full)
            log_line("programs of %d users are sampled; those of further users are not", ROOMS_MAX);
        rooms->said_full = true;
        return NULL;
    }
    room = calloc(1, sizeof(*room));
    if (!room || !make_token(room)) {
        free(room);
        return NULL;
    }
    room->uid = uid;
    room->gid = gid;
    room->rooms = rooms;
    room->link = -1;
    user = getpwuid(uid);
    if (user)
        snprintf(room->user, sizeof(room->user), "%s", user->pw_name);
    else
        snprintf(room->user, sizeof(room->user), "%u", (unsigned)uid);
    rooms->list[rooms->count++] = room;
    if (rooms->options.entered)
        rooms->options.entered(rooms->options.context, room);
    return room;
}

struct room *rooms_enter(struct rooms *rooms, uid_t uid, gid_t gid)
{
    struct room *room = rooms_prepare(rooms, uid, gid);

    if (!room || room->watch)
        return room;
    if (room->ended_ms && now_ms() - room->ended_ms < REST_MS)
        return NULL;
    return start(room) ? room : NULL;
}

bool room_takes(const struct room *room)
{
    return room->link >= 0 && room_link_has_room(room->link);
}

struct room *rooms_at(struct rooms *rooms, size_t number)
{
    return number < rooms->count ? rooms->list[number] : NULL;
}

int rooms_new(struct rooms **out, const struct rooms_options *options)
{
    struct rooms *rooms = calloc(1, sizeof(*rooms));

    if (!rooms)
        return -ISOSCOPE_NO_MEMORY;
    rooms->options = *options;
    *out = rooms;
    return 0;
}

/* The end of the link is what they go by. */
static void await_end(pid_t process)
{
    const struct timespec pause = { .tv_nsec = LEAVE_LOOK_MS * 1000000L };
    int64_t until_ms = now_ms() + LEAVE_MS_MAX;

    while (waitpid(process, NULL, WNOHANG) == 0) {
        if (now_ms() >= until_ms)
            kill(process, SIGKILL);
        nanosleep(&pause, NULL);
    }
}

void rooms_leave(struct rooms *rooms)
{
    if (!rooms)
        return;
    for (size_t i = 0; i < rooms->count; i++)
        if (rooms->list[i]->link >= 0)
            shutdown(rooms->list[i]->link, SHUT_RDWR);
    for (size_t i = 0; i < rooms->count; i++) {
        if (rooms->list[i]->process)
            await_end(rooms->list[i]->process);
        rooms->list[i]->process = 0;
        remove_folder(rooms->list[i]);
    }
}

void rooms_free(struct rooms *rooms)
{
    for (size_t i = 0; rooms && i < rooms->count; i++)
        free(rooms->list[i]);
    free(rooms);
}

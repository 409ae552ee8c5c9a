#include "callers.h"

#include "../console/log_line.h"
#include "../feeds/feed_hello.h"
#include "../net/acceptor.h"
#include "../net/loop.h"
#include "admins.h"
#include "kept_feeds.h"
#include "room_link.h"
#include "rooms.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CALLERS_MAX = 4096,
    SHARE_FROM = 512, /* from so many on nobody may have more than a quarter of them */
    GATHER_MS = 5,    /* programs that start one after the other are met together */
    CALL_MS_MAX = 10000,
    FULL_MS = 20, /* between two looks at a room that takes nothing more just now */
    LINE_BYTES = 192,
};

struct caller {
    struct callers *callers;
    struct io_watch *watch;
    struct caller *next, **link; /* link: what points to this one */
    struct ucred peer;
    int socket; /* the loop's descriptor */
    int waited_ms;
};

struct callers {
    struct callers_options options;
    struct loop *loop;
    struct acceptor *acceptor;
    struct caller *first;
    unsigned count;
};

static void close_feed(const struct feed_greeting *greeting)
{
    close(greeting->memfd);
    if (greeting->clock >= 0)
        close(greeting->clock);
    if (greeting->faults >= 0)
        close(greeting->faults);
}

static uid_t room_owner(const struct callers *callers, uid_t caller)
{
    return callers->options.owner == FEED_OF_EVERYBODY ? caller : callers->options.owner;
}

static struct room *enter(struct callers *callers, uid_t uid, gid_t gid)
{
    uid_t owner = room_owner(callers, uid);

    return rooms_enter(callers->options.rooms, owner, owner == uid ? gid : getegid());
}

static void pass_feed(struct callers *callers, const struct feed_greeting *greeting)
{
    struct room *room = enter(callers, greeting->uid, greeting->gid);

    if (room && room_link_feed(room->link, greeting))
        kept_feeds_add(callers->options.kept, greeting);
    close_feed(greeting);
}

static size_t put_line(const struct callers *callers, char *text, size_t size,
                       const struct room *room)
{
    int length = snprintf(text, size, "%u %s http://127.0.0.1:%u/%s/\n", (unsigned)room->uid,
                          room->user, callers->options.port, room->token);

    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* One message: what does not fit is not there, and a reader sees no half of a line. */
static void answer(struct callers *callers, int socket, const struct feed_greeting *asker)
{
    size_t size = (ROOMS_MAX + 1) * LINE_BYTES, length = 0;
    const struct room *own = enter(callers, asker->uid, asker->gid);
    struct room *room;
    char *text = own ? malloc(size) : NULL;
    bool all = admins_has(callers->options.admin_group, asker->uid, asker->gid);

    if (!text)
        return;
    length += put_line(callers, text, size, own);
    for (size_t i = 0; all && (room = rooms_at(callers->options.rooms, i)); i++)
        if (room != own && rooms_enter(callers->options.rooms, room->uid, room->gid))
            length += put_line(callers, text + length, size - length, room);
    (void)!send(socket, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    free(text);
}

/* What its user's process cannot take now stays with the kernel, and with it nobody else waits. */
static bool must_wait(struct callers *callers, const struct ucred *peer)
{
    uid_t owner = room_owner(callers, peer->uid);
    const struct room *room;

    for (size_t i = 0; (room = rooms_at(callers->options.rooms, i)); i++)
        if (room->uid == owner)
            return room->watch && !room_takes(room);
    return false;
}

/* One message, and nothing more. False: it has not come yet, or cannot be taken yet. */
static bool receive(struct callers *callers, int socket, const struct ucred *peer)
{
    struct feed_greeting greeting;

    if (must_wait(callers, peer))
        return false;
    switch (feed_receive(&greeting, socket, callers->options.owner)) {
    case FEED_RECEIVED_NOTHING:
        return false;
    case FEED_RECEIVED_HELLO:
        pass_feed(callers, &greeting);
        return true;
    case FEED_RECEIVED_ASK:
        answer(callers, socket, &greeting);
        return true;
    default:
        return true;
    }
}

static bool caller_ready(void *context)
{
    struct caller *caller = context;

    if (receive(caller->callers, caller->socket, &caller->peer))
        return false;
    if (must_wait(caller->callers, &caller->peer)) {
        io_watch_reads(caller->watch, false);
        io_watch_timeout(caller->watch, FULL_MS);
    }
    return true;
}

static bool caller_due(void *context)
{
    struct caller *caller = context;

    if (!must_wait(caller->callers, &caller->peer)) {
        io_watch_reads(caller->watch, true);
        io_watch_timeout(caller->watch, CALL_MS_MAX);
        if (!caller->waited_ms)
            return false; /* it had all its time, and said nothing */
        caller->waited_ms = 0;
        return true;
    }
    caller->waited_ms += FULL_MS;
    io_watch_timeout(caller->watch, FULL_MS);
    return caller->waited_ms < CALL_MS_MAX;
}

static void caller_ended(void *context)
{
    struct caller *caller = context;

    *caller->link = caller->next;
    if (caller->next)
        caller->next->link = caller->link;
    caller->callers->count--;
    free(caller);
}

/* Where many wait, one user's are no reason to refuse another's. */
static bool has_share(const struct callers *callers, uid_t uid)
{
    unsigned own = 0;

    if (callers->count >= CALLERS_MAX)
        return false;
    if (callers->count < SHARE_FROM)
        return true;
    for (const struct caller *c = callers->first; c; c = c->next)
        own += c->peer.uid == uid;
    return own < CALLERS_MAX / 4;
}

/* Takes over socket. */
static void await(struct callers *callers, int socket, const struct ucred *peer)
{
    static const struct io_watch_events events = { .ready = caller_ready,
                                                   .due = caller_due,
                                                   .ended = caller_ended };
    struct caller *caller = has_share(callers, peer->uid) ? calloc(1, sizeof(*caller)) : NULL;

    if (!caller) {
        close(socket);
        return;
    }
    *caller = (struct caller){ .callers = callers, .peer = *peer, .socket = socket };
    if (loop_watch(callers->loop, &caller->watch, socket, &events, caller) < 0) {
        free(caller);
        return;
    }
    caller->next = callers->first;
    caller->link = &callers->first;
    if (caller->next)
        caller->next->link = &caller->next;
    callers->first = caller;
    callers->count++;
    io_watch_timeout(caller->watch, CALL_MS_MAX);
}

/* They speak as soon as they have connected: mostly it is there. Takes over socket. */
static void welcome(void *context, int socket)
{
    struct callers *callers = context;
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
        receive(callers, socket, &peer))
        close(socket);
    else
        await(callers, socket, &peer);
}

int callers_new(struct callers **out, struct loop *loop, int listener,
                const struct callers_options *options)
{
    static const struct acceptor_events events = { .accepted = welcome };
    struct callers *callers = calloc(1, sizeof(*callers));
    int status;

    if (!callers) {
        close(listener);
        return -ISOSCOPE_NO_MEMORY;
    }
    callers->options = *options;
    callers->loop = loop;
    status = acceptor_new(&callers->acceptor, loop, listener, &events, callers);
    if (status < 0) {
        free(callers);
        return status;
    }
    acceptor_gather(callers->acceptor, GATHER_MS);
    *out = callers;
    return 0;
}

void callers_free(struct callers *callers)
{
    if (!callers)
        return;
    acceptor_free(callers->acceptor);
    free(callers);
}

#include "door.h"

#include "../http/access.h"
#include "../http/http.h"
#include "../http/http_answer.h"
#include "../net/acceptor.h"
#include "../net/loop.h"
#include "room_link.h"
#include "rooms.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    GUESTS_MAX = 256, /* the oldest goes for a new one */
    HEAD_MS_MAX = 10000,
    LOOK_MS = 20, /* between two looks at a head that has come in part */
};

struct guest {
    struct door *door;
    struct io_watch *watch;
    struct guest *next, *previous; /* oldest first */
    int socket;                    /* the loop's descriptor */
    bool began;                    /* a part of its head has come */
    int waited_ms;
};

struct door {
    struct loop *loop;
    struct acceptor *acceptor;
    struct rooms *rooms;
    struct guest *oldest, *newest;
    unsigned count;
};

static bool has_token(struct http_request *request, const char *token)
{
    char method[ACCESS_METHOD_BYTES];

    return (request->path && access_path(request->path, token, method) != ACCESS_NO_TOKEN) ||
           access_bearer(http_field(request, "Authorization"), token);
}

/* All are tried, whichever it is: time says nothing. */
static struct room *room_of(struct door *door, struct http_request *request)
{
    struct room *room, *found = NULL;

    for (size_t i = 0; (room = rooms_at(door->rooms, i)); i++)
        if (has_token(request, room->token))
            found = room;
    return found;
}

/* What it has sent is read, else it would see a reset instead of our words. */
static void say(struct guest *guest, const struct http_answer *answer)
{
    static char rest[HTTP_HEAD_BYTES_MAX];
    char head[HTTP_ANSWER_HEAD_BYTES];
    size_t length = http_answer_head(answer, head);

    (void)!recv(guest->socket, rest, sizeof(rest), MSG_DONTWAIT);
    (void)!send(guest->socket, head, length, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);
    (void)!send(guest->socket, answer->body, answer->size, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(guest->socket, SHUT_WR);
}

static void refuse(struct guest *guest)
{
    struct http_answer answer;

    http_answer_say(&answer, "403 Forbidden", "",
                    "no user of this service has this token: `isoscope open` tells yours\n");
    say(guest, &answer);
}

static void refuse_for_now(struct guest *guest)
{
    struct http_answer answer;

    http_answer_say(&answer, "503 Service Unavailable", "Retry-After: 2\r\n",
                    "the service of this user is not ready\n");
    say(guest, &answer);
}

static void refuse_head(struct guest *guest, size_t status)
{
    struct http_outcome outcome;

    http_refuse_head(&outcome, status);
    say(guest, &outcome.answer);
}

static void decide(struct guest *guest, char *text, size_t length)
{
    struct http_request request;
    struct room *room;
    int status = http_head_read(&request, text, length);

    if (status) {
        refuse_head(guest, (size_t)status);
        return;
    }
    room = room_of(guest->door, &request);
    if (!room) {
        refuse(guest);
        return;
    }
    room = rooms_enter(guest->door->rooms, room->uid, room->gid);
    if (!room || !room_link_client(room->link, guest->socket))
        refuse_for_now(guest);
}

/* False: it has gone where it belongs. */
static bool look(struct guest *guest)
{
    static char text[HTTP_HEAD_BYTES_MAX + 1];
    ssize_t got = recv(guest->socket, text, HTTP_HEAD_BYTES_MAX, MSG_PEEK | MSG_DONTWAIT);
    struct http_head_scan scan = { 0 };
    size_t status;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0)
        return false;
    switch (http_head_scan(&scan, text, (size_t)got, &status)) {
    case HTTP_HEAD_WHOLE:
        decide(guest, text, status);
        return false;
    case HTTP_HEAD_REFUSED:
        refuse_head(guest, status);
        return false;
    default:
        if ((size_t)got == HTTP_HEAD_BYTES_MAX)
            return false;
        /* It stays readable: only time brings something new. */
        guest->began = true;
        io_watch_reads(guest->watch, false);
        io_watch_timeout(guest->watch, LOOK_MS);
        return true;
    }
}

static bool guest_ready(void *context)
{
    return look(context);
}

/* A head that comes in parts, or one that has not begun in all its time. */
static bool guest_due(void *context)
{
    struct guest *guest = context;

    guest->waited_ms += LOOK_MS;
    return guest->began && guest->waited_ms < HEAD_MS_MAX && look(guest);
}

static void unlink_guest(struct guest *guest)
{
    struct door *door = guest->door;

    *(guest->previous ? &guest->previous->next : &door->oldest) = guest->next;
    *(guest->next ? &guest->next->previous : &door->newest) = guest->previous;
    door->count--;
}

static void guest_ended(void *context)
{
    struct guest *guest = context;

    if (guest->door)
        unlink_guest(guest);
    free(guest);
}

static void send_away(struct guest *guest)
{
    unlink_guest(guest);
    guest->door = NULL;
    io_watch_end(guest->watch);
}

/* Takes over fd. */
static void accepted(void *context, int fd)
{
    static const struct io_watch_events events = { .ready = guest_ready,
                                                   .due = guest_due,
                                                   .ended = guest_ended };
    struct door *door = context;
    struct guest *guest = calloc(1, sizeof(*guest));

    if (!guest) {
        close(fd);
        return;
    }
    guest->door = door;
    guest->socket = fd;
    if (loop_watch(door->loop, &guest->watch, fd, &events, guest) < 0) {
        free(guest);
        return;
    }
    guest->previous = door->newest;
    *(door->newest ? &door->newest->next : &door->oldest) = guest;
    door->newest = guest;
    door->count++;
    io_watch_timeout(guest->watch, HEAD_MS_MAX);
    if (door->count > GUESTS_MAX)
        send_away(door->oldest);
}

int door_new(struct door **out, struct loop *loop, int listener, struct rooms *rooms)
{
    static const struct acceptor_events events = { .accepted = accepted };
    struct door *door = calloc(1, sizeof(*door));
    int status;

    if (!door) {
        close(listener);
        return -ISOSCOPE_NO_MEMORY;
    }
    door->loop = loop;
    door->rooms = rooms;
    status = acceptor_new(&door->acceptor, loop, listener, &events, door);
    if (status < 0) {
        free(door);
        return status;
    }
    *out = door;
    return 0;
}

void door_free(struct door *door)
{
    if (!door)
        return;
    acceptor_free(door->acceptor);
    free(door);
}

#include "web.h"

#include "../console/log_line.h"
#include "acceptor.h"
#include "connection.h"
#include "delay.h"
#include "visitor.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SOCKETS_MAX = 128,
    CALLS_MAX = 64, /* by GET: places that no WebSocket takes */
    CONNECTIONS_MAX = 640,
    STRANGERS_MAX = CONNECTIONS_MAX / 2, /* of them: those that have not shown the token */
    REQUEST_MS_MAX = 10000,
};

struct web {
    struct web_options options;
    struct visitor_host host;
    struct loop *loop;
    struct acceptor *acceptor;
    struct delay *again;             /* what the service holds back for a while */
    struct visitor *oldest, *newest; /* strangers */
    struct session *sessions;
    unsigned connection_count, stranger_count, session_count;
    unsigned kind_count[HTTP_SOCKET + 1]; /* sessions that hold a place */
    bool said_strangers, said_connections, said_full;
    uint64_t activity;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void refresh_all(struct web *web)
{
    for (struct session *s = web->sessions; s; s = s->next)
        session_refresh(s);
}

/* Strangers, oldest first. */

static void add_stranger(struct web *web, struct visitor *visitor)
{
    visitor->previous = web->newest;
    if (web->newest)
        web->newest->next = visitor;
    else
        web->oldest = visitor;
    web->newest = visitor;
    web->stranger_count++;
}

static void remove_stranger(struct web *web, struct visitor *visitor)
{
    *(visitor->previous ? &visitor->previous->next : &web->oldest) = visitor->next;
    *(visitor->next ? &visitor->next->previous : &web->newest) = visitor->previous;
    visitor->next = visitor->previous = NULL;
    web->stranger_count--;
}

/* It counts no longer, though it ends only when the loop comes round. */
static void send_away_oldest(struct web *web)
{
    struct visitor *visitor = web->oldest;

    remove_stranger(web, visitor);
    web->connection_count--;
    visitor->counted = false;
    connection_end(visitor->connection);
}

static void stranger_admitted(void *context, struct visitor *visitor)
{
    if (visitor->counted)
        remove_stranger(context, visitor);
}

/* False: there is no room. */
static bool make_room(struct web *web)
{
    bool full = web->connection_count >= CONNECTIONS_MAX;

    if (!full && web->stranger_count < STRANGERS_MAX)
        return true;
    if (!web->oldest) {
        if (!web->said_connections)
            log_line("%d clients are connected; no more are accepted", CONNECTIONS_MAX);
        web->said_connections = true;
        return false;
    }
    if (!web->said_strangers)
        log_line("%u connections have not sent the token; the oldest are closed to make room",
                 web->stranger_count);
    web->said_strangers = true;
    send_away_oldest(web);
    return true;
}

static void accepted(void *context, int fd)
{
    struct web *web = context;
    struct visitor *visitor;

    if (!make_room(web)) {
        close(fd);
        return;
    }
    if (visitor_new(&visitor, web->loop, fd, &web->host) < 0)
        return;
    visitor->counted = true;
    web->connection_count++;
    add_stranger(web, visitor);
}

/* New ones have the better chance to say something: the older half gives its descriptors. */
static void exhausted(void *context)
{
    struct web *web = context;

    for (unsigned i = (web->stranger_count + 1) / 2; i; i--)
        send_away_oldest(web);
}

/* Sessions */

static bool is_idle(const struct web *web, const struct session *session, int64_t now)
{
    return session->holds_place && !session->http && session_quiet(session) &&
           !client_waits(session->client) &&
           now - session->spoke_ms >= (int64_t)web->host.patience_ms;
}

/* The one that has been silent for longest gives its place, when it listens to nothing either. Of
 * those of one millisecond it is the first that came: the list has the newest first. */
static bool take_idle_place(struct web *web)
{
    struct session *longest = NULL;
    int64_t now = now_ms();

    for (struct session *s = web->sessions; s; s = s->next)
        if (is_idle(web, s, now) && (!longest || s->spoke_ms <= longest->spoke_ms))
            longest = s;
    if (!longest)
        return false;
    longest->holds_place = false;
    web->kind_count[HTTP_SOCKET]--;
    session_dismiss(longest, FRAMES_CLOSE_POLICY,
                    "all connections are in use, and this client was idle longest");
    return true;
}

static bool has_place(void *context, enum http_kind kind)
{
    struct web *web = context;

    if (web->kind_count[kind] < (kind == HTTP_CALL ? CALLS_MAX : SOCKETS_MAX))
        return true;
    if (kind == HTTP_SOCKET && take_idle_place(web))
        return true;
    if (!web->said_full)
        log_line("the limit of %d WebSockets and %d HTTP calls is reached; further clients get "
                 "status 503",
                 SOCKETS_MAX, CALLS_MAX);
    web->said_full = true;
    return false;
}

static enum http_kind kind_of(const struct session *session)
{
    return session->http ? HTTP_CALL : HTTP_SOCKET;
}

static void session_opened(void *context, struct visitor *visitor)
{
    struct web *web = context;
    struct session *session = &visitor->session;

    session->spoke_ms = now_ms();
    session->holds_place = true;
    session->next = web->sessions;
    session->link = &web->sessions;
    if (session->next)
        session->next->link = &session->next;
    web->sessions = session;
    web->session_count++;
    web->kind_count[kind_of(session)]++;
}

static void session_ended(struct web *web, struct session *session)
{
    *session->link = session->next;
    if (session->next)
        session->next->link = session->link;
    web->session_count--;
    if (session->holds_place)
        web->kind_count[kind_of(session)]--;
    refresh_all(web); /* others may have waited for it: services, events */
}

static void visitor_left(void *context, struct visitor *visitor)
{
    struct web *web = context;

    if (visitor->counted) {
        web->connection_count--;
        if (!visitor->admitted)
            remove_stranger(web, visitor);
    }
    if (visitor->has_session)
        session_ended(web, &visitor->session);
}

static void heard(void *context, struct visitor *visitor)
{
    struct web *web = context;

    visitor->session.spoke_ms = now_ms();
    web->activity++;
    refresh_all(web); /* one client's request can be an event for all */
}

/* When its profile is due, nothing else need happen. */
static void pulled(void *context)
{
    web_poll(context);
}

static void told(void *context)
{
    struct web *web = context;

    web->activity++;
}

static struct http_site site_of(void *context)
{
    const struct web *web = context;

    return (struct http_site){ web->options.token, &web->options.access,
                               service_dds_uri(web->options.service), web->options.deflate };
}

int web_new(struct web **out, const struct web_options *options)
{
    struct web *web = calloc(1, sizeof(*web));
    uint32_t patience_ms = options->patience_seconds * 1000;

    if (!web)
        return -ISOSCOPE_NO_MEMORY;
    web->options = *options;
    web->host = (struct visitor_host){
        .site = site_of,
        .admitted = stranger_admitted,
        .has_place = has_place,
        .opened = session_opened,
        .heard = heard,
        .pulled = pulled,
        .told = told,
        .left = visitor_left,
        .service = options->service,
        .patience_ms = patience_ms,
        .request_ms = patience_ms < REQUEST_MS_MAX ? patience_ms : REQUEST_MS_MAX,
        .context = web,
    };
    *out = web;
    return 0;
}

void web_free(struct web *web)
{
    if (!web)
        return;
    acceptor_free(web->acceptor);
    delay_free(web->again);
    free(web);
}

void web_take(struct web *web, int fd)
{
    accepted(web, fd);
}

static void poll_again(void *context)
{
    web_poll(context);
}

int web_listen(struct web *web, struct loop *loop, int listener)
{
    static const struct acceptor_events events = { accepted, exhausted };
    int status = listener < 0 ? 0 : acceptor_new(&web->acceptor, loop, listener, &events, web);

    web->loop = loop;
    return status < 0 ? status : delay_new(&web->again, loop, poll_again, web);
}

void web_poll(struct web *web)
{
    delay_set(web->again, service_poll(web->options.service));
    refresh_all(web);
}

unsigned web_clients(const struct web *web)
{
    return web->session_count;
}

uint64_t web_activity(const struct web *web)
{
    return web->activity;
}

bool web_quiet(const struct web *web)
{
    for (const struct session *s = web->sessions; s; s = s->next)
        if (!session_quiet(s))
            return false;
    return true;
}

void web_leave(struct web *web, const char *reason)
{
    for (struct session *s = web->sessions; s; s = s->next)
        session_leave(s, reason);
}

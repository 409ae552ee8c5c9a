#include "web.h"

#include "http.h"
#include "http_call.h"
#include "listener.h"
#include "loop.h"
#include "session.h"

#include "../protocol/service.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    SESSIONS_MAX = 128,
    CONNECTIONS_MAX = 5 * SESSIONS_MAX, /* with those that have not said yet what they want */
};

struct web {
    struct web_options options;
    struct loop *loop;
    int listener; /* the loop's descriptor */
    struct lws_protocols protocol;
    struct session *sessions;
    unsigned session_count, connection_count;
    uint64_t activity;
    /* The protocol's name, as libwebsockets knows it. It agrees to a subprotocol by this name
     * only, so the one that a client offers is written here just before it looks. */
    char subprotocol[HTTP_SUBPROTOCOL_BYTES];
    uint8_t buffer[LWS_PRE + SESSION_PIECE_BYTES];
};

static int session_begins(struct web *web, struct session *session, struct lws *wsi)
{
    if (session_open(session, wsi, web->options.service, web->options.patience_seconds) < 0)
        return -1;
    session->next = web->sessions;
    session->link = &web->sessions;
    if (session->next)
        session->next->link = &session->next;
    web->sessions = session;
    web->session_count++;
    session_refresh(session);
    return 0;
}

static void refresh_all(struct web *web)
{
    for (struct session *s = web->sessions; s; s = s->next)
        session_refresh(s);
}

static void session_ends(struct web *web, struct session *session)
{
    if (!session || !session->link) /* it never began */
        return;
    *session->link = session->next;
    if (session->next)
        session->next->link = session->link;
    web->session_count--;
    session_close(session);
    refresh_all(web); /* others may have waited for it: services, events */
}

static int receive(struct web *web, struct session *session, const char *bytes, size_t length)
{
    int status = session_receive(session, bytes, length);

    web->activity++;
    refresh_all(web); /* one client's request can be an event for all */
    return status;
}

static struct http_site site_of(const struct web *web)
{
    return (struct http_site){ web->options.token, &web->options.access,
                               service_dds_uri(web->options.service) };
}

static int serve(struct web *web, struct session *session, struct lws *wsi)
{
    const struct http_site site = site_of(web);
    char method[ACCESS_METHOD_BYTES];
    int status = http_serve(wsi, &site, method);

    if (status != HTTP_CALL)
        return status;
    if (web->session_count >= SESSIONS_MAX)
        return http_refuse_full(wsi);
    if (session_begins(web, session, wsi) < 0)
        return -1;
    session->http = true;
    web->activity++;
    status = http_call_begin(session, wsi, method);
    refresh_all(web); /* a request can be an event for all */
    return status;
}

static int upgrade(struct web *web, struct session *session, struct lws *wsi, const char *wanted)
{
    const struct http_site site = site_of(web);

    /* "h2c" from curl and its like: an offer, which HTTP lets us pass over. */
    if (strcasecmp(wanted, "websocket") != 0)
        return serve(web, session, wsi);
    return http_upgrade(wsi, &site, web->session_count >= SESSIONS_MAX, web->subprotocol);
}

static int web_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length)
{
    const struct lws_protocols *protocol = wsi ? lws_get_protocol(wsi) : NULL;
    struct web *web = protocol ? protocol->user : NULL;
    struct session *session = user;

    switch (reason) {
    case LWS_CALLBACK_WSI_DESTROY: /* comes for every descriptor in the loop */
        if (web)
            web->connection_count--;
        return 0;
    case LWS_CALLBACK_HTTP:
        return serve(web, session, wsi);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return upgrade(web, session, wsi, in);
    case LWS_CALLBACK_ESTABLISHED:
        return session_begins(web, session, wsi);
    case LWS_CALLBACK_CLOSED:
    case LWS_CALLBACK_CLOSED_HTTP:
        session_ends(web, session);
        return 0;
    case LWS_CALLBACK_RECEIVE:
        return receive(web, session, in, length);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        web->activity++;
        return session_write(session, web->buffer, sizeof(web->buffer));
    case LWS_CALLBACK_HTTP_WRITEABLE:
        web->activity++;
        return session->link ? http_call_write(session, web->buffer, sizeof(web->buffer)) : 0;
    case LWS_CALLBACK_TIMER:
        return session->link ? session_timer(session) : 0;
    default:
        return 0;
    }
}

int web_new(struct web **out, const struct web_options *options)
{
    struct web *web = calloc(1, sizeof(*web));

    if (!web)
        return -ISOSCOPE_NO_MEMORY;
    web->options = *options;
    web->listener = -1;
    web->protocol = (struct lws_protocols){
        .name = web->subprotocol,
        .callback = web_callback,
        .per_session_data_size = sizeof(struct session),
        .tx_packet_size = SESSION_PIECE_BYTES,
        .user = web,
    };
    *out = web;
    return 0;
}

void web_free(struct web *web)
{
    free(web);
}

const struct lws_protocols *web_protocol(struct web *web)
{
    return &web->protocol;
}

static bool listener_ready(void *context)
{
    struct web *web = context;
    int fd;

    while ((fd = listener_accept(web->listener)) >= 0) {
        if (web->connection_count >= CONNECTIONS_MAX)
            close(fd);
        else if (loop_serve(web->loop, fd) == 0)
            web->connection_count++;
    }
    return true;
}

int web_listen(struct web *web, struct loop *loop, int listener)
{
    static const struct watch_events events = { .ready = listener_ready };

    web->loop = loop;
    web->listener = listener;
    return loop_watch(loop, NULL, listener, &events, web);
}

void web_poll(struct web *web)
{
    service_poll(web->options.service);
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

void web_leave(struct web *web)
{
    for (struct session *s = web->sessions; s; s = s->next)
        session_leave(s);
}

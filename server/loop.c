#include "loop.h"

#include "../sampler/include/isoscope/isoscope.h"

#include <fcntl.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <unistd.h>

#define WATCH_PROTOCOL "isoscope-watch"

enum {
    HEADER_BYTES_MAX = 16 * 1024, /* a browser sends all cookies that localhost ever got */
    SEND_BYTES = 64 * 1024,
    DESCRIPTORS_SEEN = 1024,
};

struct watch {
    struct lws *wsi; /* NULL until it is adopted */
    const struct watch_events *events;
    void *context;
};

struct loop {
    struct lws_context *context;
    struct lws_vhost *vhost;
    struct lws_protocols protocols[3]; /* web, watches, the end */
};

static void watch_ended(struct watch *watch)
{
    if (!watch || !watch->wsi) /* refused before it began: loop_watch cleans up */
        return;
    if (watch->events->ended)
        watch->events->ended(watch->context);
    free(watch);
}

static int watch_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                          size_t length)
{
    struct watch *watch = wsi ? lws_get_opaque_user_data(wsi) : NULL;

    (void)user, (void)in, (void)length;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX_FILE:
        return watch && watch->events->ready(watch->context) ? 0 : -1;
    case LWS_CALLBACK_RAW_CLOSE_FILE:
        lws_set_opaque_user_data(wsi, NULL);
        watch_ended(watch);
        return 0;
    default:
        return 0;
    }
}

static void note_descriptors(bool open[DESCRIPTORS_SEEN])
{
    for (int fd = 0; fd < DESCRIPTORS_SEEN; fd++)
        open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* libwebsockets leaves its eventfd open across exec; the program must not inherit it. */
static void close_new_ones_on_exec(const bool open[DESCRIPTORS_SEEN])
{
    for (int fd = 0; fd < DESCRIPTORS_SEEN; fd++)
        if (!open[fd] && fcntl(fd, F_GETFD) >= 0)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* A window of a third of a mebibyte for each client that agrees; browsers always offer it. */
static const struct lws_extension extensions[] = {
    { "permessage-deflate", lws_extension_callback_pm_deflate,
      "permessage-deflate; client_no_context_takeover; server_no_context_takeover" },
    { NULL, NULL, NULL },
};

static int open_context(struct loop *loop, const struct loop_options *options)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER, /* listener.h listens: its errors are clearer */
        .protocols = loop->protocols,
        .max_http_header_data = HEADER_BYTES_MAX,
        .pt_serv_buf_size = SEND_BYTES,
        .timeout_secs = (unsigned)options->request_seconds,
        .timeout_secs_ah_idle = options->request_seconds,
        .extensions = options->deflate ? extensions : NULL,
        .gid = -1,
        .uid = -1,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   LWS_SERVER_OPTION_SKIP_SERVER_CANONICAL_NAME | LWS_SERVER_OPTION_VALIDATE_UTF8,
    };
    bool open[DESCRIPTORS_SEEN];

    lws_set_log_level(0, NULL); /* what a user must know, we say in our own words */
    note_descriptors(open);
    loop->context = lws_create_context(&info);
    if (!loop->context)
        return -ISOSCOPE_SYSTEM;
    close_new_ones_on_exec(open);
    loop->vhost = lws_create_vhost(loop->context, &info);
    return loop->vhost ? 0 : -ISOSCOPE_SYSTEM;
}

int loop_new(struct loop **out, const struct loop_options *options)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    if (!loop)
        return -ISOSCOPE_NO_MEMORY;
    loop->protocols[0] = *options->web;
    loop->protocols[1] =
        (struct lws_protocols){ .name = WATCH_PROTOCOL, .callback = watch_callback };

    int status = open_context(loop, options);
    if (status < 0) {
        loop_free(loop);
        return status;
    }
    *out = loop;
    return 0;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    if (loop->context)
        lws_context_destroy(loop->context);
    free(loop);
}

int loop_step(struct loop *loop)
{
    return lws_service(loop->context, 0) < 0 ? -ISOSCOPE_SYSTEM : 0;
}

int loop_serve(struct loop *loop, int fd)
{
    return lws_adopt_socket_vhost(loop->vhost, fd) ? 0 : -ISOSCOPE_SYSTEM;
}

int loop_watch(struct loop *loop, struct watch **out, int fd, const struct watch_events *events,
               void *context)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    lws_adopt_desc_t adopt = {
        .vh = loop->vhost,
        .type = LWS_ADOPT_RAW_FILE_DESC,
        .fd.filefd = fd,
        .vh_prot_name = WATCH_PROTOCOL,
        .opaque = watch,
    };

    if (!watch) {
        close(fd);
        return -ISOSCOPE_NO_MEMORY;
    }
    watch->events = events;
    watch->context = context;

    struct lws *wsi = lws_adopt_descriptor_vhost_via_info(&adopt);
    if (!wsi) {
        free(watch);
        return -ISOSCOPE_SYSTEM;
    }
    watch->wsi = wsi;
    if (out)
        *out = watch;
    return 0;
}

void watch_timeout(struct watch *watch, int seconds)
{
    lws_set_timeout(watch->wsi, seconds ? PENDING_TIMEOUT_USER_OK : NO_PENDING_TIMEOUT, seconds);
}

void watch_end(struct watch *watch)
{
    lws_set_timeout(watch->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

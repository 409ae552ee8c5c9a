#include "http_call.h"

#include "http.h"
#include "session.h"

#include "../protocol/service.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <string.h>

enum {
    ARGUMENTS_MAX = 64,
    QUERY_BYTES = 16 * 1024, /* libwebsockets keeps no more of a request's head */
    CHUNK_HEAD_BYTES = 6,    /* "8000\r\n" */
};

#define CHUNK_END  "\r\n"
#define LAST_CHUNK "0\r\n\r\n"

struct query {
    const char *arguments[ARGUMENTS_MAX];
    size_t count;
    char text[QUERY_BYTES];
};

/* libwebsockets has decoded them. False: there are more than any method takes. */
static bool read_query(struct query *query, struct lws *wsi)
{
    size_t used = 0;

    query->count = 0;
    for (int i = 0;; i++) {
        char *at = query->text + used;
        int length =
            lws_hdr_copy_fragment(wsi, at, (int)(QUERY_BYTES - used), WSI_TOKEN_HTTP_URI_ARGS, i);
        if (length == 0)
            continue; /* "a=1&&b=2" */
        if (length < 0)
            return length == -1;
        if (query->count == ARGUMENTS_MAX)
            return false;
        query->arguments[query->count++] = at;
        used += (size_t)length + 1;
    }
}

int http_call_begin(struct session *session, struct lws *wsi, const char *method)
{
    static struct query query; /* the service thread's only */

    if (!read_query(&query, wsi))
        return http_refuse_query(wsi);
    if (http_begin_chunks(wsi) < 0)
        return -1;
    client_receive_get(session->client, method, query.arguments, query.count);
    session_refresh(session);
    return 0;
}

static size_t make_chunk(char *at, size_t size, bool last)
{
    char head[CHUNK_HEAD_BYTES + 1];
    size_t length = CHUNK_HEAD_BYTES + size;

    snprintf(head, sizeof(head), "%04zx\r\n", size & 0xffff);
    memcpy(at, head, CHUNK_HEAD_BYTES);
    length += (size_t)sprintf(at + length, "%s", last ? CHUNK_END LAST_CHUNK : CHUNK_END);
    return length;
}

int http_call_write(struct session *session, uint8_t *buffer, size_t buffer_size)
{
    char *at = (char *)buffer + LWS_PRE;
    size_t room = buffer_size - LWS_PRE - CHUNK_HEAD_BYTES - sizeof(CHUNK_END LAST_CHUNK);
    bool begins, ends = false;
    size_t size = client_send(session->client, at + CHUNK_HEAD_BYTES, room, &begins, &ends);

    if (!size) {
        session_worked(session);
        /* Still waiting; or it is to end, and the missing last chunk says that all is not here. */
        return session_must_end(session) ? -1 : 0;
    }
    size = make_chunk(at, size, ends);
    if (lws_write(session->wsi, (unsigned char *)at, size,
                  ends ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
        return -1;
    session->progress++;
    session_refresh(session);
    return ends ? -1 : 0;
}

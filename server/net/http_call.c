#include "http_call.h"

#include "../http/http.h"
#include "connection.h"
#include "session.h"

#include "../../protocol/service.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK_HEAD_BYTES = 6 /* "8000\r\n" */ };

#define CHUNK_END  "\r\n"
#define LAST_CHUNK "0\r\n\r\n"

static void send_head(struct session *session, const struct http_request *request)
{
    char text[HTTP_ANSWER_HEADERS_BYTES];
    /* Its check has been passed, so its page may read the answer. */
    const char *origin = http_field(request, "Origin");
    int length = snprintf(text, sizeof(text),
                          "HTTP/1.1 200 OK\r\n"
                          "Content-Type: application/json; charset=utf-8\r\n"
                          "%s" HTTP_COMMON_HEADERS HTTP_NO_CACHE "%s%s%s\r\n",
                          session->chunked ? "Transfer-Encoding: chunked\r\n" : "",
                          origin[0] ? "Vary: Origin\r\nAccess-Control-Allow-Origin: " : "", origin,
                          origin[0] ? "\r\n" : "");

    if (length > 0 && (size_t)length < sizeof(text))
        connection_send(session->connection, text, (size_t)length);
}

void http_call_begin(struct session *session, const struct http_request *request,
                     const struct http_outcome *call)
{
    session->chunked = request->minor >= 1;
    send_head(session, request);
    client_receive_get(session->client, call->method, call->arguments, call->argument_count);
    session_refresh(session);
}

/* Around size bytes that stand CHUNK_HEAD_BYTES behind at. */
static size_t make_chunk(char *at, size_t size, bool last)
{
    char head[CHUNK_HEAD_BYTES + 1];
    size_t length = CHUNK_HEAD_BYTES + size;

    snprintf(head, sizeof(head), "%04zx\r\n", size & 0xffff);
    memcpy(at, head, CHUNK_HEAD_BYTES);
    length += (size_t)sprintf(at + length, "%s", last ? CHUNK_END LAST_CHUNK : CHUNK_END);
    return length;
}

void http_call_turn(struct session *session)
{
    static char buffer[SESSION_PIECE_BYTES]; /* the service thread's only */
    char *piece = buffer + CHUNK_HEAD_BYTES;
    size_t room = sizeof(buffer) - CHUNK_HEAD_BYTES - sizeof(CHUNK_END LAST_CHUNK), size;
    bool begins, ends = false;

    size = client_send(session->client, piece, room, &begins, &ends);
    if (!size) { /* it waits still; or it breaks off, and the missing last chunk says so */
        session_worked(session);
        if (session_must_end(session))
            connection_finish(session->connection);
        return;
    }
    if (session->chunked)
        connection_send(session->connection, buffer, make_chunk(buffer, size, ends));
    else
        connection_send(session->connection, piece, size);
    if (ends)
        connection_finish(session->connection);
    else
        session_refresh(session);
}

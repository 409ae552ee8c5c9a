#include "http_call.h"

#include "../http/gzip.h"
#include "../http/http.h"
#include "connection.h"
#include "session.h"

#include "../../protocol/service.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK_HEAD_BYTES = 6 /* "8000\r\n" */ };

#define CHUNK_END  "\r\n"
#define LAST_CHUNK "0\r\n\r\n"

/* origin: its check has been passed, so its page may read the answer. */
static void send_head(struct session *session, const char *status, const char *type,
                      const char *origin)
{
    char text[HTTP_ANSWER_HEADERS_BYTES];
    int length = snprintf(text, sizeof(text),
                          "HTTP/1.1 %s\r\n"
                          "Content-Type: %s\r\n"
                          "%s" HTTP_COMMON_HEADERS HTTP_NO_CACHE "%s%s%s\r\n",
                          status, type, session->chunked ? "Transfer-Encoding: chunked\r\n" : "",
                          origin[0] ? "Vary: Origin\r\nAccess-Control-Allow-Origin: " : "", origin,
                          origin[0] ? "\r\n" : "");

    if (length > 0 && (size_t)length < sizeof(text))
        connection_send(session->connection, text, (size_t)length);
}

void http_call_begin(struct session *session, const struct http_request *request,
                     const struct http_outcome *call)
{
    session->chunked = request->minor >= 1;
    send_head(session, "200 OK", "application/json; charset=utf-8", http_field(request, "Origin"));
    client_receive_get(session->client, call->method, call->arguments, call->argument_count);
    session_refresh(session);
}

int http_call_pull(struct session *session, const struct http_request *request,
                   const struct http_outcome *pull)
{
    const struct pull_request asked = { .path = pull->method,
                                        .arguments = pull->arguments,
                                        .argument_count = pull->argument_count };
    struct pull_answer answer;

    session->chunked = request->minor >= 1;
    client_pull(session->client, &asked, &answer);
    if (answer.packed && gzip_new(&session->gzip) < 0)
        return -1;
    send_head(session, answer.status, answer.type, http_field(request, "Origin"));
    session_refresh(session);
    return 0;
}

void http_call_pull_symbols(struct session *session)
{
    struct pull_answer answer;

    client_pull_symbols(session->client, session->text, session->length, &answer);
    send_head(session, answer.status, answer.type, "");
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

/* Of any size; ends: the last one. */
static void send_packed(struct session *session, const char *piece, size_t size, bool ends)
{
    const uint8_t *packed;
    size_t length;
    char head[24];

    if (gzip_pack(session->gzip, piece, size, ends, &packed, &length) < 0)
        return connection_end(session->connection);
    if (!length && !ends)
        return;
    if (session->chunked && length)
        connection_send(session->connection, head,
                        (size_t)snprintf(head, sizeof(head), "%zx\r\n", length));
    connection_send(session->connection, packed, length);
    if (session->chunked)
        connection_send(session->connection, CHUNK_END LAST_CHUNK,
                        strlen(ends ? CHUNK_END LAST_CHUNK : CHUNK_END));
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
    if (session->gzip)
        send_packed(session, piece, size, ends);
    else if (session->chunked)
        connection_send(session->connection, buffer, make_chunk(buffer, size, ends));
    else
        connection_send(session->connection, piece, size);
    if (ends)
        connection_finish(session->connection);
    else
        session_refresh(session);
}

#include "visitor.h"

#include "connection.h"
#include "http_call.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_session(struct visitor *visitor, enum http_kind kind, struct packing *packing)
{
    const struct visitor_host *host = visitor->host;
    int status = session_open(&visitor->session, visitor->connection, host->service, packing);

    if (status < 0) {
        session_close(&visitor->session);
        return status;
    }
    visitor->session.http = kind == HTTP_CALL;
    visitor->has_session = true;
    host->opened(host->context, visitor);
    return 0;
}

static void send_agreement(struct connection *connection, const struct handshake *handshake)
{
    char text[512];
    int length =
        snprintf(text, sizeof(text),
                 "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s%s%s%s%s%s\r\n",
                 handshake->accept, handshake->subprotocol[0] ? "Sec-WebSocket-Protocol: " : "",
                 handshake->subprotocol, handshake->subprotocol[0] ? "\r\n" : "",
                 handshake->extension[0] ? "Sec-WebSocket-Extensions: " : "", handshake->extension,
                 handshake->extension[0] ? "\r\n" : "");

    connection_send(connection, text, (size_t)length);
}

/* The host tells others what comes of them. */
static bool take_frames(struct visitor *visitor, uint8_t *bytes, size_t size)
{
    if (!session_receive(&visitor->session, bytes, size))
        return false;
    visitor->host->heard(visitor->host->context, visitor);
    return true;
}

/* rest: the client's first frames, when they came with the head. */
static bool begin_socket(struct visitor *visitor, const struct handshake *handshake, uint8_t *rest,
                         size_t size)
{
    struct packing *packing = NULL;

    if (handshake->extension[0] && packing_new(&packing, &handshake->packing) < 0)
        return false;
    send_agreement(visitor->connection, handshake);
    if (open_session(visitor, HTTP_SOCKET, packing) < 0)
        return false;
    session_refresh(&visitor->session);
    return !size || take_frames(visitor, rest, size);
}

static bool begin_call(struct visitor *visitor, const struct http_request *request,
                       const struct http_outcome *call)
{
    if (open_session(visitor, HTTP_CALL, NULL) < 0)
        return false;
    http_call_begin(&visitor->session, request, call);
    visitor->host->heard(visitor->host->context, visitor);
    return true;
}

/* What is posted is taken until it is whole, in the time that a request has. */
static bool take_posted(struct visitor *visitor, const uint8_t *bytes, size_t size)
{
    struct session *session = &visitor->session;

    if (!session_take_posted(session, bytes, size))
        return false;
    if (session->posted_left)
        return true;
    connection_deadline(visitor->connection, 0);
    http_call_pull_symbols(session);
    visitor->host->heard(visitor->host->context, visitor);
    return true;
}

/* rest: of the body, what came with the head. */
static bool begin_pull(struct visitor *visitor, const struct http_request *request,
                       const struct http_outcome *pull, const uint8_t *rest, size_t size)
{
    const struct visitor_host *host = visitor->host;

    if (open_session(visitor, HTTP_CALL, NULL) < 0)
        return false;
    if (!strcmp(request->method, "POST")) {
        visitor->session.chunked = request->minor >= 1;
        visitor->session.posted_left = request->body_length;
        connection_deadline(visitor->connection, host->request_ms);
        return take_posted(visitor, rest, size);
    }
    if (http_call_pull(&visitor->session, request, pull) < 0)
        return false;
    host->heard(host->context, visitor);
    host->pulled(host->context);
    return true;
}

static void admit(struct visitor *visitor)
{
    visitor->admitted = true;
    connection_deadline(visitor->connection, 0);
    visitor->host->admitted(visitor->host->context, visitor);
}

static void send_answer(struct visitor *visitor, const struct http_answer *answer,
                        bool without_body)
{
    char head[HTTP_ANSWER_HEAD_BYTES];

    connection_send(visitor->connection, head, http_answer_head(answer, head));
    if (answer->body && !without_body)
        connection_send(visitor->connection, answer->body, answer->size);
    connection_finish(visitor->connection);
}

static void send_metrics(struct visitor *visitor)
{
    struct http_answer answer;
    size_t size;
    char *text = service_metrics(visitor->host->service, &size);

    if (text) {
        http_answer_say(&answer, "200 OK", "", "");
        answer.type = "text/plain; version=0.0.4; charset=utf-8";
        answer.body = text;
        answer.size = size;
    } else {
        http_answer_say(&answer, "503 Service Unavailable", "", "out of memory");
    }
    send_answer(visitor, &answer, false);
    free(text);
}

static bool takes_place(enum http_kind kind)
{
    return kind == HTTP_CALL || kind == HTTP_PULL || kind == HTTP_SOCKET;
}

/* text: the whole head, and what came behind it. */
static bool serve(struct visitor *visitor, char *text, size_t head, size_t length)
{
    const struct visitor_host *host = visitor->host;
    struct http_site site = host->site(host->context);
    struct http_request request;
    struct http_outcome outcome;
    int refused = http_head_read(&request, text, head);

    if (refused)
        http_refuse_head(&outcome, (size_t)refused);
    else
        http_decide(&outcome, &request, &site);
    if (outcome.admitted)
        admit(visitor);
    if (takes_place(outcome.kind) &&
        !host->has_place(host->context, outcome.kind == HTTP_SOCKET ? HTTP_SOCKET : HTTP_CALL))
        http_refuse_full(&outcome);
    switch (outcome.kind) {
    case HTTP_SOCKET:
        return begin_socket(visitor, &outcome.handshake, (uint8_t *)text + head, length - head);
    case HTTP_CALL:
        return begin_call(visitor, &request, &outcome);
    case HTTP_PULL:
        return begin_pull(visitor, &request, &outcome, (uint8_t *)text + head, length - head);
    case HTTP_METRICS:
        send_metrics(visitor);
        return true;
    default:
        send_answer(visitor, &outcome.answer, !strcmp(request.method, "HEAD"));
        return true;
    }
}

/* text: all that has come of it. */
static enum http_scanned read_head(struct visitor *visitor, char *text, size_t length,
                                   bool *goes_on)
{
    struct http_outcome refusal;
    size_t status;
    enum http_scanned scanned = http_head_scan(&visitor->scan, text, length, &status);

    *goes_on = true;
    if (scanned == HTTP_HEAD_WHOLE) {
        *goes_on = serve(visitor, text, status, length);
    } else if (scanned == HTTP_HEAD_REFUSED) {
        http_refuse_head(&refusal, status);
        send_answer(visitor, &refusal.answer, false);
    }
    return scanned;
}

static bool keep(struct visitor *visitor, const uint8_t *bytes, size_t size)
{
    char *head = realloc(visitor->head, visitor->length + size);

    if (!head)
        return false;
    memcpy(head + visitor->length, bytes, size);
    visitor->head = head;
    visitor->length += size;
    return true;
}

static bool take_head(struct visitor *visitor, uint8_t *bytes, size_t size)
{
    bool goes_on;

    if (!visitor->head) /* most come in one piece */
        return read_head(visitor, (char *)bytes, size, &goes_on) != HTTP_HEAD_UNFINISHED
                   ? goes_on
                   : keep(visitor, bytes, size);
    if (!keep(visitor, bytes, size))
        return false;
    if (read_head(visitor, visitor->head, visitor->length, &goes_on) != HTTP_HEAD_UNFINISHED) {
        free(visitor->head);
        visitor->head = NULL;
    }
    return goes_on;
}

static bool visitor_received(void *context, uint8_t *bytes, size_t size)
{
    struct visitor *visitor = context;

    if (!visitor->has_session)
        return take_head(visitor, bytes, size);
    if (visitor->session.posted_left)
        return take_posted(visitor, bytes, size);
    if (visitor->session.http) /* one request a connection */
        return true;
    return take_frames(visitor, bytes, size);
}

/* Who has asked by GET may have nothing more to say, and wait for the answer. Who waits for a profile
 * has gone: that can be minutes off, and others want the place. */
static bool visitor_half_closed(void *context)
{
    const struct visitor *visitor = context;

    return visitor->has_session && visitor->session.http && !visitor->session.posted_left &&
           !client_pulls(visitor->session.client);
}

static void visitor_turn(void *context)
{
    struct visitor *visitor = context;

    if (!visitor->has_session)
        return;
    visitor->host->told(visitor->host->context);
    if (visitor->session.http)
        http_call_turn(&visitor->session);
    else
        session_turn(&visitor->session);
}

static bool visitor_owes(const void *context)
{
    const struct visitor *visitor = context;

    return visitor->has_session && session_owes(&visitor->session);
}

static void visitor_ended(void *context)
{
    struct visitor *visitor = context;

    if (visitor->has_session)
        session_close(&visitor->session);
    visitor->host->left(visitor->host->context, visitor);
    free(visitor->head);
    free(visitor);
}

int visitor_new(struct visitor **out, struct loop *loop, int fd, const struct visitor_host *host)
{
    static const struct connection_events events = { visitor_received, visitor_half_closed,
                                                     visitor_turn, visitor_owes, visitor_ended };
    struct visitor *visitor = calloc(1, sizeof(*visitor));

    if (!visitor) {
        close(fd);
        return -ISOSCOPE_NO_MEMORY;
    }
    visitor->host = host;
    int status =
        connection_new(&visitor->connection, loop, fd, host->patience_ms, &events, visitor);
    if (status < 0) {
        free(visitor);
        return status;
    }
    connection_deadline(visitor->connection, host->request_ms);
    *out = visitor;
    return 0;
}

#include "session.h"

#include "connection.h"

#include "../http/gzip.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES_KEPT = 64 * 1024, /* a rare long message does not keep its memory */
    CLOSING_MS_MAX = 5000,       /* a client that does not read cannot be told */
    READ_BYTES_MAX = 64 * 1024 * 1024,
    PLAIN_HEAD_MAX = 4, /* of a frame of at most SESSION_PIECE_BYTES */
    CODE_BYTES = 2,
};

int session_open(struct session *session, struct connection *connection, struct service *service,
                 struct packing *packing)
{
    *session = (struct session){ .connection = connection, .packing = packing };
    session->frames.may_be_packed = packing != NULL;
    return client_new(&session->client, service);
}

void session_close(struct session *session)
{
    client_free(session->client);
    packing_free(session->packing);
    gzip_free(session->gzip);
    free(session->text);
}

static void send_control(struct session *session, enum frames_opcode opcode, const uint8_t *bytes,
                         size_t size)
{
    uint8_t frame[FRAMES_HEAD_MAX + FRAMES_CONTROL_MAX];
    size_t head = frames_head(frame, opcode, FRAMES_FIN, size);

    memcpy(frame + head, bytes, size);
    connection_send(session->connection, frame, head + size);
}

static void send_close(struct session *session, uint16_t code, const char *reason)
{
    uint8_t payload[FRAMES_CONTROL_MAX] = { (uint8_t)(code >> 8), (uint8_t)code };
    size_t length = strnlen(reason, FRAMES_CONTROL_MAX - CODE_BYTES);

    memcpy(payload + CODE_BYTES, reason, length);
    session->closing = true;
    send_control(session, FRAMES_CLOSE, payload,
                 code == FRAMES_CLOSE_NO_STATUS ? 0 : CODE_BYTES + length);
}

static void set_last_seconds(struct session *session)
{
    if (session->last_seconds)
        return;
    session->last_seconds = true;
    connection_deadline(session->connection, CLOSING_MS_MAX);
}

void session_dismiss(struct session *session, uint16_t code, const char *reason)
{
    if (session->http || session->closing)
        return;
    set_last_seconds(session);
    send_close(session, code, reason);
}

/* What it says from here on cannot be understood, or need not be. */
static void break_off(struct session *session, uint16_t code, const char *reason)
{
    if (!session->closing)
        send_close(session, code, reason);
    connection_finish(session->connection);
}

static bool make_room(struct session *session, size_t wanted)
{
    size_t capacity = session->capacity ? session->capacity : 4096;

    while (capacity < wanted)
        capacity *= 2;
    if (capacity == session->capacity)
        return true;

    char *text = realloc(session->text, capacity);
    if (!text)
        return false;
    session->text = text;
    session->capacity = capacity;
    return true;
}

static void forget_text(struct session *session)
{
    free(session->text);
    session->text = NULL;
    session->capacity = 0;
}

static void message_done(struct session *session)
{
    session->length = 0;
    session->too_long = false;
    session->utf8 = (struct utf8){ 0 };
    if (session->capacity > TEXT_BYTES_KEPT)
        forget_text(session);
}

/* 0, or the code to close with. Of a binary message the bytes are not looked at. */
static uint16_t take_bytes(struct session *session, const uint8_t *bytes, size_t size, bool binary)
{
    size_t before = session->length;

    session->length += size;
    if (session->length > READ_BYTES_MAX)
        return FRAMES_CLOSE_TOO_LONG;
    if (session->too_long || session->length > SESSION_MESSAGE_MAX) {
        session->too_long = true;
        forget_text(session);
        return 0;
    }
    if (binary)
        return 0;
    if (!utf8_take(&session->utf8, bytes, size))
        return FRAMES_CLOSE_NO_TEXT;
    if (!make_room(session, session->length + 1))
        return FRAMES_CLOSE_INTERNAL;
    memcpy(session->text + before, bytes, size);
    return 0;
}

bool session_take_posted(struct session *session, const uint8_t *bytes, size_t size)
{
    if (size > session->posted_left)
        size = session->posted_left;
    if (!make_room(session, session->length + size + 1))
        return false;
    memcpy(session->text + session->length, bytes, size);
    session->length += size;
    session->posted_left -= size;
    return true;
}

static uint16_t unpack(struct session *session, const struct frames_piece *piece)
{
    const uint8_t *bytes;
    size_t size;
    uint16_t code = 0;
    int status = 0;

    packing_give(session->packing, piece->bytes, piece->size, piece->ends);
    while (!code && (status = packing_unpack(session->packing, &bytes, &size)) == 0 && size)
        code = take_bytes(session, bytes, size, piece->binary);
    return code                            ? code
           : status == -ISOSCOPE_NO_MEMORY ? FRAMES_CLOSE_INTERNAL
           : status < 0                    ? FRAMES_CLOSE_PROTOCOL
                                           : 0;
}

static void message_ended(struct session *session, bool binary)
{
    if (session->too_long)
        return session_dismiss(session, FRAMES_CLOSE_TOO_LONG, "longer than 8 MiB");
    if (binary) {
        client_receive_binary(session->client);
    } else if (!make_room(session, session->length + 1)) { /* an empty one has no room yet */
        return break_off(session, FRAMES_CLOSE_INTERNAL, "out of memory");
    } else if (!utf8_whole(&session->utf8)) {
        return break_off(session, FRAMES_CLOSE_NO_TEXT, "the message is not UTF-8");
    } else {
        session->text[session->length] = '\0';
        client_receive(session->client, session->text, session->length);
    }
    message_done(session);
}

static const char *reason_of(uint16_t code)
{
    return code == FRAMES_CLOSE_NO_TEXT    ? "the message is not UTF-8"
           : code == FRAMES_CLOSE_INTERNAL ? "out of memory"
                                           : "the message is not packed right";
}

/* False: it gets no more of our time, and no word. */
static bool take_piece(struct session *session, const struct frames_piece *piece)
{
    uint16_t code;

    connection_moved(session->connection);
    if (session->closing)
        return true;
    if (piece->to_come > READ_BYTES_MAX) {
        break_off(session, FRAMES_CLOSE_TOO_LONG, "longer than 8 MiB");
        return true;
    }
    code = piece->packed ? unpack(session, piece)
                         : take_bytes(session, piece->bytes, piece->size, piece->binary);
    if (code == FRAMES_CLOSE_TOO_LONG)
        return false;
    if (code)
        break_off(session, code, reason_of(code));
    else if (piece->ends)
        message_ended(session, piece->binary);
    return true;
}

/* Of several pings only the last one need be answered: they cannot pile up. */
static void take_ping(struct session *session, const struct frames_piece *piece)
{
    memcpy(session->pong, piece->bytes, piece->size);
    session->pong_length = (uint8_t)piece->size;
    session->pong_due = !session->closing;
    connection_turn(session->connection);
}

static void take_close(struct session *session, const struct frames_piece *piece)
{
    if (!session->closing)
        send_close(session, piece->code, "");
    connection_finish(session->connection);
}

bool session_receive(struct session *session, uint8_t *bytes, size_t size)
{
    struct frames_piece piece;

    for (;;) {
        switch (frames_next(&session->frames, &bytes, &size, &piece)) {
        case FRAMES_NOTHING:
            session_refresh(session);
            return true;
        case FRAMES_PIECE:
            if (!take_piece(session, &piece))
                return false;
            break;
        case FRAMES_PINGED:
            take_ping(session, &piece);
            break;
        case FRAMES_PONGED:
            break;
        case FRAMES_CLOSED:
            take_close(session, &piece);
            return true;
        case FRAMES_BROKEN:
            break_off(session, piece.code, piece.reason);
            return true;
        }
    }
}

/* True: it has been closed. */
static bool close_if_due(struct session *session)
{
    uint16_t code = FRAMES_CLOSE_AWAY;
    const char *reason = session->leaving ? session->leaving : "";
    bool closing = client_closing(session->client, &code, &reason);

    if (!closing && !session->leaving)
        return false;
    /* Answers to what came before go out first, unless they are what is too much. */
    if (client_wants_send(session->client) && code != FRAMES_CLOSE_POLICY)
        return false;
    session_dismiss(session, code, reason);
    return true;
}

void session_worked(struct session *session)
{
    if (client_wants_send(session->client)) /* it is we who took the time */
        connection_moved(session->connection);
    session_refresh(session);
}

/* The next piece of a message. Its size; 0: there is nothing to send yet. */
static size_t next_piece(struct session *session, uint8_t *out, size_t size, bool *begins,
                         bool *ends)
{
    *begins = *ends = false;
    size_t length = client_send(session->client, (char *)out, size, begins, ends);

    if (!length)
        session_worked(session);
    return length;
}

/* One frame at at, where there is room for size. Its bytes; 0: there is nothing to send. */
static size_t put_plain(struct session *session, uint8_t *at, size_t size, bool *ends)
{
    uint8_t head[FRAMES_HEAD_MAX], *payload = at + PLAIN_HEAD_MAX;
    bool begins;
    size_t length = next_piece(session, payload, size - PLAIN_HEAD_MAX, &begins, ends);
    size_t head_length = frames_head(head, begins ? FRAMES_TEXT : FRAMES_CONTINUATION,
                                     *ends ? FRAMES_FIN : 0, length);

    if (!length)
        return 0;
    memcpy(at, head, head_length);
    if (head_length < PLAIN_HEAD_MAX)
        memmove(at + head_length, payload, length);
    return head_length + length;
}

/* What a piece is packed to may be nothing yet. Negative: the connection is gone. */
static int send_packed(struct session *session, const uint8_t *piece, size_t length, bool begins,
                       bool ends)
{
    uint8_t head[FRAMES_HEAD_MAX];
    const uint8_t *packed;
    size_t size;

    if (packing_pack(session->packing, piece, length, ends, &packed, &size) < 0) {
        session_dismiss(session, FRAMES_CLOSE_INTERNAL, "out of memory");
        return -1;
    }
    session->mid_packed &= !begins;
    if (!size && !ends)
        return 0;
    size_t head_length =
        frames_head(head, session->mid_packed ? FRAMES_CONTINUATION : FRAMES_TEXT,
                    (session->mid_packed ? 0 : FRAMES_PACKED) | (ends ? FRAMES_FIN : 0), size);
    session->mid_packed = true;
    return connection_send(session->connection, head, head_length) < 0 ||
                   connection_send(session->connection, packed, size) < 0
               ? -1
               : 0;
}

/* Many small replies go out in one turn, and in one call of the kernel. A message that has not
 * ended goes on in the next turn. */
static void send_plain(struct session *session, uint8_t *buffer)
{
    size_t length = 0;
    bool ends = true;

    while (ends && SESSION_PIECE_BYTES - length > FRAMES_HEAD_MAX)
        length += put_plain(session, buffer + length, SESSION_PIECE_BYTES - length, &ends);
    if (length)
        connection_send(session->connection, buffer, length);
}

static void send_pieces(struct session *session, uint8_t *buffer)
{
    size_t left = SESSION_PIECE_BYTES;
    bool begins, ends = true;

    while (ends && left && connection_has_room(session->connection)) {
        size_t length = next_piece(session, buffer, left, &begins, &ends);

        if (!length || send_packed(session, buffer, length, begins, ends) < 0)
            return;
        left -= length;
    }
}

void session_turn(struct session *session)
{
    static uint8_t buffer[SESSION_PIECE_BYTES]; /* the service thread's only */

    if (session->closing)
        return;
    if (session->pong_due) {
        session->pong_due = false;
        send_control(session, FRAMES_PONG, session->pong, session->pong_length);
    }
    if (close_if_due(session))
        return;
    if (session->packing)
        send_pieces(session, buffer);
    else
        send_plain(session, buffer);
    if (!client_wants_send(session->client))
        close_if_due(session);
    session_refresh(session);
}

bool session_must_end(const struct session *session)
{
    uint16_t code;
    const char *reason;

    return session->leaving != NULL || client_closing(session->client, &code, &reason);
}

void session_refresh(struct session *session)
{
    bool ends = session_must_end(session);

    if (session->closing)
        return;
    if (ends)
        set_last_seconds(session);
    if (ends || client_wants_send(session->client))
        connection_turn(session->connection);
}

bool session_owes(const struct session *session)
{
    return session->frames.message || session->frames.head_length || !session_quiet(session);
}

bool session_quiet(const struct session *session)
{
    return !client_wants_send(session->client) && connection_has_room(session->connection);
}

void session_leave(struct session *session, const char *reason)
{
    session->leaving = reason;
    session_refresh(session);
}

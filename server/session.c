#include "session.h"

#include "../protocol/service.h"

#include <libwebsockets.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    TEXT_BYTES_KEPT = 64 * 1024, /* a rare long message does not keep its memory */
    CLOSING_SECONDS_MAX = 5,     /* a client that does not read cannot be told */
    PATIENCE_BYTES = 64 * 1024 * 1024,
};

int session_open(struct session *session, struct lws *wsi, struct service *service,
                 int patience_seconds)
{
    *session = (struct session){ .wsi = wsi, .patience_seconds = patience_seconds };
    return client_new(&session->client, service) < 0 ? -1 : 0;
}

void session_close(struct session *session)
{
    client_free(session->client);
    free(session->text);
    *session = (struct session){ 0 };
}

static int close_with(struct session *session, uint16_t code, const char *reason)
{
    lws_close_reason(session->wsi, (enum lws_close_status)code, (unsigned char *)reason,
                     strlen(reason));
    return -1;
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

static void message_done(struct session *session)
{
    session->length = 0;
    if (session->capacity <= TEXT_BYTES_KEPT)
        return;
    free(session->text);
    session->text = NULL;
    session->capacity = 0;
}

/*
 * Read to its end, not kept, so that the client is still there to hear why. Beyond PATIENCE_BYTES
 * it hears nothing. The close frame comes from session_write: in the middle of unpacking a message,
 * libwebsockets 4.1 would never send it.
 */
static int receive_too_long(struct session *session)
{
    if (lws_is_final_fragment(session->wsi))
        session->too_long = true;
    else if (session->length > PATIENCE_BYTES)
        lws_set_timeout(session->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    session_refresh(session);
    return 0;
}

int session_receive(struct session *session, const char *bytes, size_t length)
{
    bool binary = lws_frame_is_binary(session->wsi);
    size_t before = session->length;

    session->progress++;
    session->length += length;
    if (session->length > SESSION_MESSAGE_MAX || session->too_long)
        return receive_too_long(session);
    if (!make_room(session, session->length + 1))
        return close_with(session, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
    if (length && !binary) /* the bytes of a binary message are not looked at */
        memcpy(session->text + before, bytes, length);
    if (!lws_is_final_fragment(session->wsi)) {
        session_refresh(session);
        return 0;
    }

    if (binary) {
        client_receive_binary(session->client);
    } else {
        session->text[session->length] = '\0';
        client_receive(session->client, session->text, session->length);
    }
    message_done(session);
    return 0;
}

/* 0: nothing to close for. */
static int close_if_due(struct session *session)
{
    uint16_t code = LWS_CLOSE_STATUS_GOINGAWAY;
    const char *reason = "the program has ended";
    bool closing = client_closing(session->client, &code, &reason);

    if (session->too_long)
        return close_with(session, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "longer than 8 MiB");
    if (!closing && !session->leaving)
        return 0;
    /* Answers to what came before go out first, unless they are what is too much. */
    if (client_wants_send(session->client) && code != LWS_CLOSE_STATUS_POLICY_VIOLATION)
        return 0;
    return close_with(session, code, reason);
}

void session_worked(struct session *session)
{
    session->progress += client_wants_send(session->client);
    session_refresh(session);
}

/* Returns the bytes written, 0 when there is nothing to write; *more: another may follow at once.
 */
static int write_piece(struct session *session, uint8_t *buffer, size_t size_max, bool *more)
{
    bool begins = false, ends = false;
    size_t size = client_send(session->client, (char *)buffer + LWS_PRE, size_max, &begins, &ends);
    int flags = lws_write_ws_flags(LWS_WRITE_TEXT, begins, ends);

    if (size && lws_write(session->wsi, buffer + LWS_PRE, size, (enum lws_write_protocol)flags) < 0)
        return -1;
    if (!size)
        session_worked(session);
    session->progress += size > 0;
    /* A message that has not ended is for the next turn. */
    *more = ends && !lws_send_pipe_choked(session->wsi);
    return (int)size;
}

/* Many small replies go out in one turn: a turn for each would be a poll for each. */
int session_write(struct session *session, uint8_t *buffer, size_t buffer_size)
{
    size_t left = buffer_size - LWS_PRE;
    bool more = true;

    while (more && left) {
        if (close_if_due(session) < 0)
            return -1;

        int size = write_piece(session, buffer, left, &more);
        if (size < 0)
            return -1;
        left -= (size_t)size;
    }
    session_refresh(session);
    return 0;
}

/* It owes us something: to read, or the end of its message. */
static bool owes(const struct session *session)
{
    return session->length || !session_quiet(session);
}

/* What the socket has not got rid of: a slow reader's is not writable for minutes, but empties. */
static int unsent(const struct session *session)
{
    int bytes = 0;

    return ioctl(lws_get_socket_fd(session->wsi), SIOCOUTQ, &bytes) < 0 ? 0 : bytes;
}

static void start_timer(struct session *session)
{
    if (session->timed || !owes(session))
        return;
    session->timed = true;
    session->progress_seen = session->progress;
    session->unsent_seen = unsent(session);
    lws_set_timer_usecs(session->wsi, session->patience_seconds * LWS_USEC_PER_SEC);
}

int session_timer(struct session *session)
{
    session->timed = false;
    if (owes(session) && session->progress == session->progress_seen &&
        unsent(session) >= session->unsent_seen)
        return -1;
    start_timer(session);
    return 0;
}

bool session_must_end(const struct session *session)
{
    uint16_t code;
    const char *reason;

    return session->leaving || session->too_long || client_closing(session->client, &code, &reason);
}

void session_refresh(struct session *session)
{
    bool closing = session_must_end(session);

    start_timer(session);
    if (closing && !session->last_seconds) {
        session->last_seconds = true;
        lws_set_timeout(session->wsi, PENDING_TIMEOUT_USER_OK, CLOSING_SECONDS_MAX);
    }
    if (closing || client_wants_send(session->client))
        lws_callback_on_writable(session->wsi);
}

bool session_quiet(const struct session *session)
{
    return !client_wants_send(session->client) && !lws_partial_buffered(session->wsi);
}

void session_leave(struct session *session)
{
    session->leaving = true;
    session_refresh(session);
}

/*
 * http_call.h - one RPC by HTTP GET: "/TOKEN=/getVM?isolateId=..." and its answer, in chunks.
 *
 *   path, query -> client_receive_get ... client_send -> http_call_write -> chunks
 *
 * A client of the protocol for one question: a session without a WebSocket (session.h), which ends
 * with its answer. As from the VM, errors come with status 200 too.
 *
 * Threads    The service thread.
 * Errors     Results are for the libwebsockets callback: 0, or -1 to end the connection.
 */
#ifndef ISOSCOPE_HTTP_CALL_H
#define ISOSCOPE_HTTP_CALL_H

#include <stddef.h>
#include <stdint.h>

struct lws;
struct session;

/* session is open. Asks, and sends the head of the answer. */
int http_call_begin(struct session *session, struct lws *wsi, const char *method);
/* The socket takes the next piece. */
int http_call_write(struct session *session, uint8_t *buffer, size_t buffer_size);

#endif

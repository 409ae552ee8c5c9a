/*
 * http_call.h - one RPC by HTTP GET: "/TOKEN=/getVM?isolateId=..." and its answer, in chunks.
 *
 *   path, query -> client_receive_get ... client_send -> http_call_turn -> chunks
 *
 * A client of the protocol for one question: a session without a WebSocket (session.h), which ends
 * with its answer. As from the VM, errors come with status 200 too. An answer that breaks off has
 * no last chunk.
 *
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_HTTP_CALL_H
#define ISOSCOPE_HTTP_CALL_H

struct http_outcome;
struct http_request;
struct session;

/* session is open. Sends the head of the answer, and asks. */
void http_call_begin(struct session *session, const struct http_request *request,
                     const struct http_outcome *call);
/* There is room for the next piece. */
void http_call_turn(struct session *session);

#endif

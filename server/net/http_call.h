/*
 * http_call.h - one RPC by HTTP GET: "/TOKEN=/getVM?isolateId=..." and its answer, in chunks.
 *
 *   path, query -> client_receive_get, client_pull ... client_send -> http_call_turn -> chunks
 *
 * A client of the protocol for one question: a session without a WebSocket (session.h), which ends
 * with its answer. As from the VM, errors come with status 200 too. An answer that breaks off has
 * no last chunk.
 *
 * Profiles that are pulled go the same way. Only they know their status before the head is sent, and
 * they are packed.
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
/* The same for a profile, or what belongs to it: it may come late. Negative: no memory. */
int http_call_pull(struct session *session, const struct http_request *request,
                   const struct http_outcome *pull);
/* What was posted has come whole: it is the session's text. */
void http_call_pull_symbols(struct session *session);
/* There is room for the next piece. */
void http_call_turn(struct session *session);

#endif

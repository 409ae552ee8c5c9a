#include "http_answer.h"

#include "connection.h"

#include <stdio.h>
#include <string.h>

enum { OWN_HEADERS_BYTES = 512 };

void http_answer_say(struct http_answer *out, const char *status, const char *more,
                     const char *body)
{
    out->status = status;
    out->type = "text/plain; charset=utf-8";
    snprintf(out->headers, sizeof(out->headers), HTTP_NO_CACHE "%s", more);
    out->body = body;
    out->size = strlen(body);
}

void http_answer_send(const struct http_answer *answer, struct connection *connection,
                      bool without_body)
{
    char head[OWN_HEADERS_BYTES + HTTP_ANSWER_HEADERS_BYTES], body_headers[128] = "";

    if (answer->body)
        snprintf(body_headers, sizeof(body_headers), "Content-Type: %s\r\nContent-Length: %zu\r\n",
                 answer->type, answer->size);
    int length = snprintf(head, sizeof(head), "HTTP/1.1 %s\r\n" HTTP_COMMON_HEADERS "%s%s\r\n",
                          answer->status, answer->headers, body_headers);

    if (length > 0 && (size_t)length < sizeof(head))
        connection_send(connection, head, (size_t)length);
    if (answer->body && !without_body)
        connection_send(connection, answer->body, answer->size);
    connection_finish(connection);
}

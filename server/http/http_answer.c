#include "http_answer.h"

#include <stdio.h>
#include <string.h>

void http_answer_say(struct http_answer *out, const char *status, const char *more,
                     const char *body)
{
    out->status = status;
    out->type = "text/plain; charset=utf-8";
    snprintf(out->headers, sizeof(out->headers), HTTP_NO_CACHE "%s", more);
    out->body = body;
    out->size = strlen(body);
}

size_t http_answer_head(const struct http_answer *answer, char out[HTTP_ANSWER_HEAD_BYTES])
{
    char body_headers[128] = "";

    if (answer->body)
        snprintf(body_headers, sizeof(body_headers), "Content-Type: %s\r\nContent-Length: %zu\r\n",
                 answer->type, answer->size);
    int length =
        snprintf(out, HTTP_ANSWER_HEAD_BYTES, "HTTP/1.1 %s\r\n" HTTP_COMMON_HEADERS "%s%s\r\n",
                 answer->status, answer->headers, body_headers);

    return length > 0 && length < HTTP_ANSWER_HEAD_BYTES ? (size_t)length : 0;
}

#include "http_answer.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OWN_HEADERS_BYTES = 512,
    CLOSE = -1, /* to libwebsockets: end the connection */
};

int http_answer(struct lws *wsi, const struct http_answer *answer)
{
    size_t size = OWN_HEADERS_BYTES + HTTP_ANSWER_HEADERS_BYTES + answer->size;
    unsigned char *buffer = malloc(LWS_PRE + size);

    if (!buffer)
        return CLOSE;
    char *text = (char *)buffer + LWS_PRE;
    int head = snprintf(text, size, "HTTP/1.1 %s\r\n" HTTP_COMMON_HEADERS "%s", answer->status,
                        answer->headers);
    if (answer->body)
        head += snprintf(text + head, size - (size_t)head,
                         "Content-Type: %s\r\nContent-Length: %zu\r\n", answer->type, answer->size);
    head += snprintf(text + head, size - (size_t)head, "\r\n");

    /* What the socket does not take at once, libwebsockets keeps and sends before it closes. */
    if ((size_t)head + answer->size < size) {
        if (answer->body)
            memcpy(text + head, answer->body, answer->size);
        lws_write(wsi, buffer + LWS_PRE, (size_t)head + answer->size, LWS_WRITE_HTTP_FINAL);
    }
    free(buffer);
    return CLOSE;
}

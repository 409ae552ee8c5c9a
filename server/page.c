#include "page.h"

#include "http_answer.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ACCEPT_BYTES = 1024 };

/* Nothing but our own files, and the WebSocket beside them: a name from a profile that became
 * script or an address would still do nothing. data: and blob: are pictures that are saved. */
#define POLICY                                                                                     \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "connect-src 'self'; worker-src 'self'; img-src data: blob:; base-uri 'none'; "                \
    "form-action 'none'; frame-ancestors 'self'\r\n"

const struct page_file *page_find(const char *name)
{
    for (const struct page_file *file = page_files; file->name; file++)
        if (!strcmp(file->name, name))
            return file;
    return NULL;
}

/* Too long to be read is as if it were absent. */
static bool header_holds(struct lws *wsi, enum lws_token_indexes token, const char *word)
{
    char text[ACCEPT_BYTES];

    return lws_hdr_total_length(wsi, token) > 0 &&
           lws_hdr_copy(wsi, text, sizeof(text), token) >= 0 && strstr(text, word);
}

const struct page_file *page_for_browser(struct lws *wsi)
{
    return header_holds(wsi, WSI_TOKEN_HTTP_ACCEPT, "text/html") ? page_find("index.html") : NULL;
}

int page_answer(struct lws *wsi, const struct page_file *file)
{
    static const char refusal[] = "this is sent as gzip only: curl has --compressed";
    char headers[HTTP_ANSWER_HEADERS_BYTES];

    snprintf(headers, sizeof(headers),
             "Cache-Control: private, no-cache\r\nVary: Accept, Accept-Encoding\r\n"
             "ETag: %s\r\n" POLICY,
             file->etag);
    if (header_holds(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, file->etag))
        return http_answer(
            wsi, &(struct http_answer){ "304 Not Modified", file->type, headers, NULL, 0 });
    if (!header_holds(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING, "gzip"))
        return http_answer(wsi,
                           &(struct http_answer){ "406 Not Acceptable", "text/plain; charset=utf-8",
                                                  HTTP_NO_CACHE, refusal, sizeof(refusal) - 1 });
    strncat(headers, "Content-Encoding: gzip\r\n", sizeof(headers) - strlen(headers) - 1);
    return http_answer(
        wsi, &(struct http_answer){ "200 OK", file->type, headers, file->gzip, file->size });
}

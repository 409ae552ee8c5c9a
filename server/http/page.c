#include "page.h"

#include "http_answer.h"
#include "http_head.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Nothing but our own files, and the WebSocket beside them: a name from a profile that became
 * script or an address would still do nothing. data: and blob: are pictures that are saved. */
#define POLICY                                                                                     \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "           \
    "connect-src 'self'; worker-src 'self'; img-src data: blob:; base-uri 'none'; "                \
    "form-action 'none'; frame-ancestors 'self'\r\n"

static const struct page_file *find_in(const struct page_file *file, const char *name)
{
    for (; file->name; file++)
        if (!strcmp(file->name, name))
            return file;
    return NULL;
}

const struct page_file *page_find(const char *name)
{
    static const char docs[] = "docs/";

    if (strncmp(name, docs, sizeof(docs) - 1) != 0)
        return find_in(page_files, name);
    name += sizeof(docs) - 1;
    return find_in(docs_files, name[0] ? name : "index.html");
}

static bool field_holds(const struct http_request *request, const char *name, const char *word)
{
    const char *value;

    for (size_t at = 0; (value = http_field_next(request, name, &at));)
        if (strstr(value, word))
            return true;
    return false;
}

const struct page_file *page_for_browser(const struct http_request *request)
{
    return field_holds(request, "Accept", "text/html") ? page_find("index.html") : NULL;
}

void page_answer(struct http_answer *out, const struct page_file *file,
                 const struct http_request *request)
{
    bool theirs_is_good = field_holds(request, "If-None-Match", file->etag);

    if (!theirs_is_good && !field_holds(request, "Accept-Encoding", "gzip"))
        return http_answer_say(out, "406 Not Acceptable", "",
                               "this is sent as gzip only: curl has --compressed");
    out->status = theirs_is_good ? "304 Not Modified" : "200 OK";
    out->type = file->type;
    out->body = theirs_is_good ? NULL : file->gzip;
    out->size = file->size;
    snprintf(out->headers, sizeof(out->headers),
             "Cache-Control: private, no-cache\r\nVary: Accept, Accept-Encoding\r\n"
             "ETag: %s\r\n" POLICY "%s",
             file->etag, theirs_is_good ? "" : "Content-Encoding: gzip\r\n");
}

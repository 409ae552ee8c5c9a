#include "http.h"

#include "access.h"
#include "http_answer.h"
#include "page.h"
#include "../protocol/openrpc.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 1024,
    HOST_BYTES = 256,
    BODY_BYTES = 1024,
    HEADERS_BYTES = BODY_BYTES + 512,
    CLOSE = -1, /* to libwebsockets: end the connection */
};

struct answer {
    const char *status;
    const char *header; /* one more header with its line end, or "" */
    const char *body;
};

static const struct answer bad_host = { "403 Forbidden", "", "forbidden host" };
static const struct answer bad_origin = { "403 Forbidden", "", "forbidden origin" };
static const struct answer bad_token = { "403 Forbidden", "",
                                         "missing or invalid authentication code" };
static const struct answer bad_method = { "405 Method Not Allowed", "Allow: GET\r\n",
                                          "method not allowed" };
static const struct answer foreign_page = { "403 Forbidden", "",
                                            "forbidden for pages of other sites" };
static const struct answer not_found = { "404 Not Found", "", "there is nothing here" };
static const struct answer long_query = { "414 URI Too Long", "",
                                          "too many or too long parameters" };
static const struct answer openrpc = { "200 OK", "", openrpc_text };
static const struct answer no_upgrade = { "400 Bad Request", "",
                                          "this is the place for a WebSocket" };
static const struct answer bad_upgrade = { "400 Bad Request", "", "malformed WebSocket request" };
static const struct answer bad_version = { "426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n",
                                           "unknown WebSocket version" };
static const struct answer too_many = { "503 Service Unavailable", "", "too many clients" };

static int answer_as(struct lws *wsi, const char *type, const struct answer *answer)
{
    char headers[HTTP_ANSWER_HEADERS_BYTES];

    snprintf(headers, sizeof(headers), HTTP_NO_CACHE "%s", answer->header);

    const struct http_answer whole = { answer->status, type, headers, answer->body,
                                       strlen(answer->body) };
    return http_answer(wsi, &whole);
}

static int answer_with(struct lws *wsi, const struct answer *answer)
{
    return answer_as(wsi, "text/plain; charset=utf-8", answer);
}

/* "" when it is absent. False when it is too long to be right. */
static bool header(struct lws *wsi, char *out, int size, enum lws_token_indexes token)
{
    out[0] = '\0';
    return lws_hdr_total_length(wsi, token) == 0 || lws_hdr_copy(wsi, out, size, token) >= 0;
}

/* NULL: the request may come in. */
static const struct answer *check_sender(struct lws *wsi, const struct access_rules *rules)
{
    char text[HOST_BYTES];

    if (!header(wsi, text, sizeof(text), WSI_TOKEN_HOST) || !access_host(rules, text))
        return &bad_host;
    if (!header(wsi, text, sizeof(text), WSI_TOKEN_SWORIGIN) || !access_origin(rules, text))
        return &bad_origin;
    if (!header(wsi, text, sizeof(text), WSI_TOKEN_ORIGIN) || !access_origin(rules, text))
        return &bad_origin;
    return NULL;
}

/* A page of another site may ask without saying which: as an image, say. It must not call methods.
 */
static bool from_foreign_page(struct lws *wsi)
{
    static const char name[] = "sec-fetch-site:";
    int length = lws_hdr_custom_length(wsi, name, sizeof(name) - 1);
    char site[32];

    if (length <= 0 || lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0)
        return false;
    return lws_hdr_custom_copy(wsi, site, sizeof(site), name, sizeof(name) - 1) < 0 ||
           !access_fetch_site(site);
}

static bool is_get(struct lws *wsi)
{
    return lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0;
}

static enum access_path requested(struct lws *wsi, const struct http_site *site,
                                  char method[ACCESS_METHOD_BYTES])
{
    char path[PATH_BYTES];

    return header(wsi, path, sizeof(path), WSI_TOKEN_GET_URI)
               ? access_path(path, site->token, method)
               : ACCESS_NO_TOKEN;
}

/* For those that read text. */
static int answer_in_words(struct lws *wsi, const struct http_site *site)
{
    char body[BODY_BYTES], host[HOST_BYTES];
    const char *slash = site->token[0] ? "/" : "";

    header(wsi, host, sizeof(host), WSI_TOKEN_HOST); /* its check has been passed */
    snprintf(body, sizeof(body),
             "This is isoscope %s. It profiles a native program and answers the Dart VM service "
             "protocol.\n\n"
             "Page       this address, in a browser\n"
             "WebSocket  ws://%s/%s%sws\n"
             "Methods    http://%s/%s%sgetVM\n"
             "Protocol   http://%s/%s%sopenrpc.json\n"
             "Call tree  ISOSCOPE_URI=http://%s/%s%s isoscope tree\n",
             ISOSCOPE_VERSION, host, site->token, slash, host, site->token, slash, host,
             site->token, slash, host, site->token, slash);

    const struct answer page = { "200 OK", "", body };
    return answer_with(wsi, &page);
}

static int answer_page(struct lws *wsi, const struct http_site *site)
{
    const struct page_file *own = page_for_browser(wsi);

    return own ? page_answer(wsi, own) : answer_in_words(wsi, site);
}

static int answer_missing_slash(struct lws *wsi, const struct http_site *site)
{
    char location[BODY_BYTES];

    snprintf(location, sizeof(location), "Location: %s/\r\n", site->token);

    const struct answer elsewhere = { "302 Found", location, "" };
    return answer_with(wsi, &elsewhere);
}

/* Who asks for the redirect with the token may know where the proxy is. */
static int answer_proxy(struct lws *wsi, const char *uri)
{
    char location[BODY_BYTES];
    int length = snprintf(location, sizeof(location), "Location: %s\r\n", uri);

    const struct answer elsewhere = { "302 Found", location, "" };
    return length > 0 && (size_t)length < sizeof(location) ? answer_with(wsi, &elsewhere) : CLOSE;
}

int http_begin_chunks(struct lws *wsi)
{
    char text[LWS_PRE + HEADERS_BYTES], origin[HOST_BYTES];

    /* check_sender let it pass, so its page may read the answer. */
    header(wsi, origin, sizeof(origin), WSI_TOKEN_ORIGIN);
    int length =
        snprintf(text + LWS_PRE, HEADERS_BYTES,
                 "HTTP/1.1 200 OK\r\n"
                 "Content-Type: application/json; charset=utf-8\r\n"
                 "Transfer-Encoding: chunked\r\n" HTTP_COMMON_HEADERS HTTP_NO_CACHE "%s%s%s\r\n",
                 origin[0] ? "Vary: Origin\r\nAccess-Control-Allow-Origin: " : "", origin,
                 origin[0] ? "\r\n" : "");

    return lws_write(wsi, (unsigned char *)text + LWS_PRE, (size_t)length, LWS_WRITE_HTTP);
}

int http_refuse_query(struct lws *wsi)
{
    return answer_with(wsi, &long_query);
}

int http_refuse_full(struct lws *wsi)
{
    return answer_with(wsi, &too_many);
}

int http_serve(struct lws *wsi, const struct http_site *site, char method[ACCESS_METHOD_BYTES])
{
    const struct answer *refusal = check_sender(wsi, site->rules);

    if (refusal)
        return answer_with(wsi, refusal);
    if (!is_get(wsi))
        return answer_with(wsi, &bad_method);
    switch (requested(wsi, site, method)) {
    case ACCESS_NO_SLASH:
        return answer_missing_slash(wsi, site);
    case ACCESS_PAGE:
        return answer_page(wsi, site);
    case ACCESS_SOCKET:
        return answer_with(wsi, &no_upgrade);
    case ACCESS_OPENRPC:
        return answer_as(wsi, "application/json; charset=utf-8", &openrpc);
    case ACCESS_METHOD:
        if (page_find(method)) /* a file of the page: no method has a dot in its name's end */
            return page_answer(wsi, page_find(method));
        return from_foreign_page(wsi) ? answer_with(wsi, &foreign_page) : HTTP_CALL;
    default:
        return answer_with(wsi, &bad_token);
    }
}

/*
 * A client that offers subprotocols wants to hear one of them, or it hangs up; which one does not
 * matter here. Dart's tools offer "implicit-redirect" and the VM agrees to that one.
 */
static bool choose_subprotocol(struct lws *wsi, char out[HTTP_SUBPROTOCOL_BYTES])
{
    char offered[HTTP_SUBPROTOCOL_BYTES];
    char *rest = NULL;

    out[0] = '\0';
    if (!header(wsi, offered, sizeof(offered), WSI_TOKEN_PROTOCOL))
        return false;
    for (char *name = strtok_r(offered, ", \t", &rest); name; name = strtok_r(NULL, ", \t", &rest))
        if (!out[0] || !strcmp(name, "implicit-redirect"))
            memcpy(out, name, strlen(name) + 1);
    return true;
}

static const struct answer *check_upgrade(struct lws *wsi, bool full)
{
    char version[16];

    if (!header(wsi, version, sizeof(version), WSI_TOKEN_VERSION) || strcmp(version, "13") != 0)
        return &bad_version;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_KEY) == 0)
        return &bad_upgrade;
    return full ? &too_many : NULL;
}

int http_upgrade(struct lws *wsi, const struct http_site *site, bool full,
                 char subprotocol[HTTP_SUBPROTOCOL_BYTES])
{
    const struct answer *refusal = check_sender(wsi, site->rules);
    char method[ACCESS_METHOD_BYTES];

    if (refusal)
        return answer_with(wsi, refusal);
    if (!is_get(wsi))
        return answer_with(wsi, &bad_method);

    enum access_path path = requested(wsi, site, method);
    if (path == ACCESS_NO_TOKEN || path == ACCESS_NO_SLASH)
        return answer_with(wsi, &bad_token);
    if (path != ACCESS_SOCKET)
        return answer_with(wsi, &not_found);
    refusal = check_upgrade(wsi, full && !site->dds_uri);
    if (refusal)
        return answer_with(wsi, refusal);
    if (site->dds_uri)
        return answer_proxy(wsi, site->dds_uri);
    return choose_subprotocol(wsi, subprotocol) ? 0 : answer_with(wsi, &bad_upgrade);
}

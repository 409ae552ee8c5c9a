#include "http.h"

#include "page.h"

#include "../../protocol/text/openrpc.h"

#include <stdio.h>
#include <string.h>

enum { HOST_BYTES = 256, LOCATION_BYTES = 1024 };

static void answer(struct http_outcome *out, const char *status, const char *more, const char *body)
{
    out->kind = HTTP_ANSWER;
    http_answer_say(&out->answer, status, more, body);
}

void http_refuse_head(struct http_outcome *out, size_t status)
{
    static const struct {
        size_t code;
        const char *status, *body;
    } refusals[] = {
        { 414, "414 URI Too Long", "too long a target" },
        { 431, "431 Request Header Fields Too Large", "too many or too long header fields" },
        { 501, "501 Not Implemented", "unknown transfer coding" },
        { 505, "505 HTTP Version Not Supported", "the version is to be 1.1 or 1.0" },
    };

    *out = (struct http_outcome){ .kind = HTTP_ANSWER };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        if (refusals[i].code == status)
            return answer(out, refusals[i].status, "", refusals[i].body);
    answer(out, "400 Bad Request", "", "malformed request");
}

void http_refuse_full(struct http_outcome *out)
{
    answer(out, "503 Service Unavailable", "", "too many clients");
}

/* Where the request thinks that it has gone. NULL: it does not say, or twice. */
static const char *host_of(const struct http_request *request)
{
    size_t at = 0;
    const char *host = http_field_next(request, "Host", &at);

    if (http_field_next(request, "Host", &at) || (!host && request->minor >= 1))
        return NULL;
    host = request->authority ? request->authority : host ? host : "";
    return strlen(host) < HOST_BYTES ? host : "";
}

static bool is_own_origin(const struct http_request *request, const struct access_rules *rules,
                          const char *name)
{
    const char *origin;

    for (size_t at = 0; (origin = http_field_next(request, name, &at));)
        if (strlen(origin) >= HOST_BYTES || !access_origin(rules, origin))
            return false;
    return true;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);

    return length >= size && !strcmp(text + length - size, end);
}

/* Only addresses are posted: there may be too many for a line. The path may be anybody's still. */
static bool may_post(const struct http_request *request)
{
    return ends_in(request->path, "/pprof/symbol");
}

/* False: it has been answered. */
static bool check_method(struct http_outcome *out, const struct http_request *request)
{
    bool post = may_post(request);

    if (!strcmp(request->method, "GET") || (post && !strcmp(request->method, "POST")))
        return true;
    /* Not HEAD either, as the VM. */
    answer(out, "405 Method Not Allowed", post ? "Allow: GET, POST\r\n" : "Allow: GET\r\n",
           "method not allowed");
    return false;
}

/* False: it has been answered. */
static bool check_sender(struct http_outcome *out, const struct http_request *request,
                         const struct access_rules *rules)
{
    const char *host = host_of(request);

    if (!check_method(out, request))
        return false;
    if (!host)
        answer(out, "400 Bad Request", "", "one Host is needed");
    else if (!access_host(rules, host))
        answer(out, "403 Forbidden", "", "forbidden host");
    else if (!is_own_origin(request, rules, "Origin") ||
             !is_own_origin(request, rules, "Sec-WebSocket-Origin"))
        answer(out, "403 Forbidden", "", "forbidden origin");
    else
        return true;
    return false;
}

/* A page of another site may ask without saying which: as an image, say. It must not call methods.
 */
static bool is_from_foreign_page(const struct http_request *request)
{
    const char *site;

    if (http_field(request, "Origin")[0])
        return false;
    for (size_t at = 0; (site = http_field_next(request, "Sec-Fetch-Site", &at));)
        if (!access_fetch_site(site))
            return true;
    return false;
}

/* For those that read text. */
static void answer_in_words(struct http_outcome *out, const struct http_request *request,
                            const struct http_site *site)
{
    const char *host = host_of(request), *slash = site->token[0] ? "/" : "";

    snprintf(out->answer.text, sizeof(out->answer.text),
             "This is isoscope %s. It profiles a native program and answers the Dart VM service "
             "protocol.\n\n"
             "Page       this address, in a browser\n"
             "WebSocket  ws://%s/%s%sws\n"
             "Methods    http://%s/%s%sgetVM\n"
             "Protocol   http://%s/%s%sopenrpc.json\n"
             "Metrics    http://%s/%s%smetrics\n"
             "Profiles   http://%s/%s%sdebug/pprof/\n"
             "Call tree  ISOSCOPE_URI=http://%s/%s%s isoscope tree\n",
             ISOSCOPE_VERSION, host, site->token, slash, host, site->token, slash, host,
             site->token, slash, host, site->token, slash, host, site->token, slash, host,
             site->token, slash);
    answer(out, "200 OK", "", out->answer.text);
}

static void answer_page(struct http_outcome *out, const struct http_request *request,
                        const struct http_site *site)
{
    const struct page_file *own = page_for_browser(request);

    if (own)
        page_answer(&out->answer, own, request);
    else
        answer_in_words(out, request, site);
}

static void send_elsewhere(struct http_outcome *out, const char *where, const char *end)
{
    char location[LOCATION_BYTES];

    snprintf(location, sizeof(location), "Location: %s%s\r\n", where, end);
    answer(out, "302 Found", location, "");
}

static void decide_metrics(struct http_outcome *out, const struct http_request *request)
{
    if (is_from_foreign_page(request))
        answer(out, "403 Forbidden", "", "forbidden for pages of other sites");
    else
        out->kind = HTTP_METRICS;
}

static void decide_call(struct http_outcome *out, struct http_request *request, enum http_kind kind)
{
    bool malformed = false;

    if (is_from_foreign_page(request))
        answer(out, "403 Forbidden", "", "forbidden for pages of other sites");
    else if (!http_arguments(request->query, out->arguments, &out->argument_count, &malformed))
        answer(out, malformed ? "400 Bad Request" : "414 URI Too Long", "",
               malformed ? "malformed parameters" : "too many parameters");
    else
        out->kind = kind;
}

static void decide_pull(struct http_outcome *out, struct http_request *request)
{
    bool posts = !strcmp(request->method, "POST");

    if (posts && request->has_body && !request->body_length)
        answer(out, "411 Length Required", "", "the addresses are to come with a Content-Length");
    else if (posts && request->body_length > HTTP_BODY_BYTES_MAX)
        answer(out, "413 Content Too Large", "", "more than 1 MiB of addresses");
    else
        decide_call(out, request, HTTP_PULL);
}

static void decide_docs(struct http_outcome *out, const struct http_request *request)
{
    const struct page_file *file = page_find(out->method);

    if (file)
        page_answer(&out->answer, file, request);
    else if (!page_find("docs/"))
        answer(
            out, "404 Not Found", "",
            "this isoscope was built without its documentation: python3-markdown-it was missing");
    else if (!strcmp(out->method, "docs"))
        send_elsewhere(out, "docs/", "");
    else
        answer(out, "404 Not Found", "", "the documentation has no such page; docs/ lists them");
}

static void decide_get(struct http_outcome *out, struct http_request *request,
                       const struct http_site *site, enum access_path path)
{
    const struct page_file *file = path == ACCESS_METHOD ? page_find(out->method) : NULL;

    if (path == ACCESS_NO_SLASH)
        send_elsewhere(out, site->token, "/");
    else if (path == ACCESS_PAGE)
        answer_page(out, request, site);
    else if (path == ACCESS_SOCKET)
        answer(out, "400 Bad Request", "", "this is the place for a WebSocket");
    else if (path == ACCESS_OPENRPC) {
        answer(out, "200 OK", "", openrpc_text);
        out->answer.type = "application/json; charset=utf-8";
    } else if (path == ACCESS_METRICS)
        decide_metrics(out, request);
    else if (path == ACCESS_PULL)
        decide_pull(out, request);
    else if (path == ACCESS_DOCS)
        decide_docs(out, request);
    else if (file) /* a file of the page: no method has a dot in its name's end */
        page_answer(&out->answer, file, request);
    else
        decide_call(out, request, HTTP_CALL);
}

static void decide_socket(struct http_outcome *out, const struct http_request *request,
                          const struct http_site *site, enum access_path path)
{
    if (path != ACCESS_SOCKET)
        answer(out, "404 Not Found", "", "there is nothing here");
    else if (strcmp(http_field(request, "Sec-WebSocket-Version"), "13") != 0)
        answer(out, "426 Upgrade Required", "Sec-WebSocket-Version: 13\r\nUpgrade: websocket\r\n",
               "unknown WebSocket version");
    else if (!handshake_read(&out->handshake, request, site->deflate))
        answer(out, "400 Bad Request", "", "malformed WebSocket request");
    else if (site->dds_uri) /* who knows the token may know where the proxy is */
        send_elsewhere(out, site->dds_uri, "");
    else
        out->kind = HTTP_SOCKET;
}

/* Whoever scrapes may have the token in a header: it is his only way to read figures and profiles. */
static enum access_path path_of(struct http_outcome *out, const struct http_request *request,
                                const char *token)
{
    enum access_path path = access_path(request->path, token, out->method), open;

    if (path != ACCESS_NO_TOKEN || !access_bearer(http_field(request, "Authorization"), token))
        return path;
    open = access_path(request->path, "", out->method);
    return open == ACCESS_METRICS || open == ACCESS_PULL ? open : ACCESS_NO_TOKEN;
}

void http_decide(struct http_outcome *out, struct http_request *request,
                 const struct http_site *site)
{
    enum access_path path = path_of(out, request, site->token);
    bool socket = handshake_is_wanted(request);

    out->kind = HTTP_ANSWER;
    out->admitted = false;
    out->argument_count = 0;
    if (!check_sender(out, request, site->rules))
        return;
    if (path == ACCESS_NO_TOKEN || (socket && path == ACCESS_NO_SLASH))
        return answer(out, "403 Forbidden", "", "missing or invalid authentication code");
    out->admitted = true;
    if (request->path_has_nul)
        answer(out, "400 Bad Request", "", "a path holds no byte of zero");
    else if (socket)
        decide_socket(out, request, site, path);
    else
        decide_get(out, request, site, path);
}

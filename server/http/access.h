/*
 * access.h - who may talk to the service, decided from a request's own words.
 *
 * There are four gates. Each is enough to keep a web page out:
 *
 *   Host              a name that a stranger's DNS bound to 127.0.0.1
 *   Origin            a page of another site
 *   Sec-Fetch-Site    a page of another site that asks without an Origin, as images do
 *   the token         anybody who was not told it: in the path, or (access_bearer) in a header
 *
 * The user may open the first two for names of his own.
 *
 * Ownership  Strings in access_rules are lent.
 * Errors     None: what cannot be understood is not allowed.
 */
#ifndef ISOSCOPE_ACCESS_H
#define ISOSCOPE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_NAMES_MAX = 16 };

struct access_names {
    const char *list[ACCESS_NAMES_MAX];
    size_t count;
};

/* What is allowed beyond this machine's own names. */
struct access_rules {
    struct access_names hosts;   /* "build.example": on any port, in any case of letters */
    struct access_names origins; /* "https://tools.example", "null", "vscode-webview:*" */
};

/* host: "127.0.0.1:8181", "localhost", "[::1]:80". NULL or empty is not allowed. */
bool access_host(const struct access_rules *rules, const char *host);

/* origin: "http://localhost:9100". NULL or empty: no page that would say so, so allowed. */
bool access_origin(const struct access_rules *rules, const char *origin);

/* fetch_site: the header Sec-Fetch-Site, of a request that has no Origin; "" when it is absent. */
bool access_fetch_site(const char *fetch_site);

enum access_path {
    ACCESS_NO_TOKEN, /* missing or wrong */
    ACCESS_NO_SLASH, /* "/TOKEN=": the page without its slash */
    ACCESS_PAGE,     /* "/TOKEN=/" */
    ACCESS_SOCKET,   /* "/TOKEN=/ws" */
    ACCESS_OPENRPC,  /* "/TOKEN=/openrpc.json" */
    ACCESS_METRICS,  /* "/TOKEN=/metrics" */
    ACCESS_PULL,     /* "/TOKEN=/debug/pprof/...", "/TOKEN=/pprof/..." */
    ACCESS_DOCS,     /* "/TOKEN=/docs/...", and without its slash */
    ACCESS_METHOD,   /* "/TOKEN=/getVM", whether there is such a method or not */
};

enum { ACCESS_METHOD_BYTES = 128 };

/*
 * path: percent-decoded, without the query. token: "" when none is asked for. method: filled for
 * ACCESS_METHOD, whose further segments mean nothing, as in the VM; and for ACCESS_PULL and
 * ACCESS_DOCS, with all segments: "debug/pprof/heap", "docs/stalls.html".
 */
enum access_path access_path(const char *path, const char *token, char method[ACCESS_METHOD_BYTES]);

/* authorization: the header's value, "Bearer TOKEN"; "" when it is absent. */
bool access_bearer(const char *authorization, const char *token);

#endif

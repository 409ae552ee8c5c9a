/*
 * access.h - who may talk to the service, decided from a request's own words.
 *
 * Three gates, in this order, and each is enough to keep a web page out: the Host header (a name
 * that was bound to 127.0.0.1 by a stranger's DNS), the Origin header (a page of another
 * site), and the token in the path (anybody who was not told).
 *
 * Errors     None: what cannot be understood is not allowed.
 */
#ifndef ISOSCOPE_ACCESS_H
#define ISOSCOPE_ACCESS_H

#include <stdbool.h>

/* host: "127.0.0.1:8181", "localhost", "[::1]:80". NULL or empty is not allowed. */
bool access_host(const char *host);

/* origin: "http://localhost:9100". NULL or empty: not a browser, so allowed. */
bool access_origin(const char *origin);

enum access_path {
    ACCESS_NO_TOKEN, /* missing or wrong */
    ACCESS_NO_SLASH, /* "/TOKEN=": the page without its slash */
    ACCESS_PAGE,     /* "/TOKEN=/" */
    ACCESS_SOCKET,   /* "/TOKEN=/ws" */
    ACCESS_OPENRPC,  /* "/TOKEN=/openrpc.json" */
    ACCESS_UNKNOWN,  /* the token is right, the rest is nothing we have */
};

/* path: percent-decoded, without the query. */
enum access_path access_path(const char *path, const char *token);

#endif

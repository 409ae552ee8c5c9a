#include "access.h"

#include "token.h"

#include <string.h>
#include <strings.h>

/* After the host's name: nothing, or a port. */
static bool port_or_end(const char *text)
{
    if (!*text)
        return true;
    return text[0] == ':' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1);
}

static bool is_host(const char *host, const char *name)
{
    size_t length = strlen(name);

    return !strncasecmp(host, name, length) && port_or_end(host + length);
}

bool access_host(const struct access_rules *rules, const char *host)
{
    static const char *const own[] = { "127.0.0.1", "localhost", "[::1]" };

    for (size_t i = 0; host && i < sizeof(own) / sizeof(own[0]); i++)
        if (is_host(host, own[i]))
            return true;
    for (size_t i = 0; host && i < rules->hosts.count; i++)
        if (is_host(host, rules->hosts.list[i]))
            return true;
    return false;
}

/* allowed may end in '*': whatever begins so. */
static bool matches(const char *origin, const char *allowed)
{
    size_t length = strlen(allowed);

    if (length && allowed[length - 1] == '*')
        return !strncasecmp(origin, allowed, length - 1);
    return !strcasecmp(origin, allowed);
}

bool access_origin(const struct access_rules *rules, const char *origin)
{
    if (!origin || !origin[0])
        return true;
    for (size_t i = 0; i < rules->origins.count; i++)
        if (matches(origin, rules->origins.list[i]))
            return true;
    if (!strncasecmp(origin, "http://", 7))
        return access_host(rules, origin + 7);
    if (!strncasecmp(origin, "https://", 8))
        return access_host(rules, origin + 8);
    return false;
}

bool access_fetch_site(const char *fetch_site)
{
    /* "none": typed by the user. "same-site" is another port of this machine. */
    return !fetch_site[0] || !strcmp(fetch_site, "none") || !strcmp(fetch_site, "same-origin") ||
           !strcmp(fetch_site, "same-site");
}

/* What stands behind the token: "" or "/..."; NULL: the token is not there. */
static const char *behind_token(const char *path, const char *token)
{
    size_t length = strlen(token);

    if (path[0] != '/')
        return NULL;
    if (!length)
        return path;
    if (strlen(path + 1) < length || !token_equal(token, path + 1, length))
        return NULL;
    path += 1 + length;
    return path[0] && path[0] != '/' ? NULL : path;
}

bool access_bearer(const char *authorization, const char *token)
{
    size_t length = strlen(token);

    if (!length || strncasecmp(authorization, "Bearer ", 7) != 0)
        return false;
    authorization += 7;
    authorization += strspn(authorization, " ");
    return strlen(authorization) == length && token_equal(token, authorization, length);
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return !strncmp(path, folder, length) && (!path[length] || path[length] == '/');
}

static void copy_method(char method[ACCESS_METHOD_BYTES], const char *name, size_t length)
{
    if (length >= ACCESS_METHOD_BYTES) /* nothing has so long a name */
        length = ACCESS_METHOD_BYTES - 1;
    memcpy(method, name, length);
    method[length] = '\0';
}

enum access_path access_path(const char *path, const char *token, char method[ACCESS_METHOD_BYTES])
{
    const char *rest = behind_token(path, token);

    if (!rest)
        return ACCESS_NO_TOKEN;
    if (!rest[0])
        return ACCESS_NO_SLASH;
    if (!rest[1])
        return ACCESS_PAGE;
    if (!strcmp(rest, "/ws") || !strcmp(rest, "/ws/"))
        return ACCESS_SOCKET;
    if (!strcmp(rest, "/openrpc.json"))
        return ACCESS_OPENRPC;
    if (!strcmp(rest, "/metrics"))
        return ACCESS_METRICS;
    if (is_below(rest, "/debug/pprof") || is_below(rest, "/pprof")) {
        copy_method(method, rest + 1, strlen(rest + 1));
        return ACCESS_PULL;
    }
    if (is_below(rest, "/docs")) {
        copy_method(method, rest + 1, strlen(rest + 1));
        return ACCESS_DOCS;
    }
    copy_method(method, rest + 1, strcspn(rest + 1, "/"));
    return ACCESS_METHOD;
}

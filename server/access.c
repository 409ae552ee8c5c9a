#include "access.h"

#include "token.h"

#include <string.h>
#include <strings.h>

/* After the host's name: nothing, or a port. */
static bool port_or_end(const char *text)
{
    if (!*text)
        return true;
    return text[0] == ':' && strspn(text + 1, "0123456789") == strlen(text + 1);
}

bool access_host(const char *host)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

    for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (!strncasecmp(host, names[i], length) && port_or_end(host + length))
            return true;
    }
    return false;
}

bool access_origin(const char *origin)
{
    if (!origin || !origin[0])
        return true;
    if (!strncasecmp(origin, "http://", 7))
        return access_host(origin + 7);
    if (!strncasecmp(origin, "https://", 8))
        return access_host(origin + 8);
    return false;
}

enum access_path access_path(const char *path, const char *token)
{
    size_t length = strlen(token);

    if (path[0] != '/' || strlen(path + 1) < length || !token_equal(token, path + 1, length))
        return ACCESS_NO_TOKEN;

    const char *rest = path + 1 + length;
    if (!rest[0])
        return ACCESS_NO_SLASH;
    if (rest[0] != '/')
        return ACCESS_NO_TOKEN;
    if (!rest[1])
        return ACCESS_PAGE;
    if (!strcmp(rest, "/ws"))
        return ACCESS_SOCKET;
    return strcmp(rest, "/openrpc.json") ? ACCESS_UNKNOWN : ACCESS_OPENRPC;
}

/*
 * access_fuzz.c - any bytes as a request's path, Host, Origin and Sec-Fetch-Site, and as options.
 *
 * Lines: path, host, origin, site, then words of `isoscope run` or `record`. Sanitizers judge; and whoever
 * comes in must have the token, and a host that is this machine's or was allowed.
 */
#include "sampler/feed/cleanup.h"
#include "server/http/access.h"
#include "server/run/options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORDS_MAX = 16, ERROR_BYTES = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char token[] = "abc==";

static void free_text(char **text)
{
    free(*text);
}

static void check_path(const char *path)
{
    char method[ACCESS_METHOD_BYTES];
    enum access_path place = access_path(path, token, method);

    if (place != ACCESS_NO_TOKEN && strncmp(path, "/abc==", 6))
        abort();
    if (place == ACCESS_METHOD && strchr(method, '/'))
        abort();
    access_path(path, "", method);
}

static void check_names(const char *host, const char *origin, const char *site)
{
    static const struct access_rules none;
    static const struct access_rules some = {
        .hosts = { .list = { "build.example" }, .count = 1 },
        .origins = { .list = { "null", "vscode-webview:*" }, .count = 2 },
    };

    if (access_host(&none, host) && strncasecmp(host, "127.0.0.1", 9) &&
        strncasecmp(host, "localhost", 9) && strncasecmp(host, "[::1]", 5))
        abort();
    if (access_origin(&none, origin) && origin[0] && strncasecmp(origin, "http", 4))
        abort();
    if (access_host(&none, host) && !access_host(&some, host))
        abort();
    if (access_origin(&none, origin) && !access_origin(&some, origin))
        abort();
    access_fetch_site(site);
}

static void check_options(char *words[WORDS_MAX], int count)
{
    struct run_options options = { 0 };
    char error[ERROR_BYTES] = "";
    int status = options_parse(&options, count, words, error, sizeof(error));

    if (status == 0 && !options.help && (!options.program || !options.program[0]))
        abort();
    if (status < 0 && !error[0])
        abort();
    if (status == 0 && options.serve.socket[0] && options.serve.socket[0] != '/')
        abort();
    if (status == 0 && !options.help && options.serve.host.deaf && !options.serve.recording.path)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    CLEANUP(free_text) char *text = strndup((const char *)bytes, count);
    char *words[WORDS_MAX + 1] = { 0 }, *rest = text;
    int found = 0;

    while (rest && found < WORDS_MAX)
        words[found++] = strsep(&rest, "\n");
    if (found < 5)
        return 0;
    check_path(words[0]);
    check_names(words[1], words[2], words[3]);
    words[4] = (char *)(count % 2 ? "record" : "run");
    check_options(words + 4, found - 4);
    return 0;
}

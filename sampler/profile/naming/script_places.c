#include "script_places.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { WORDS_MAX = 8 };

/* Folders that hold packages, and how a name begins that is no file. Of a folder that ends without a slash
 * its last part is the package's first. */
static const struct places {
    const char *folders[WORDS_MAX];
    const char *beginnings[WORDS_MAX];
} places[FEED_RUNTIME_KIND_COUNT] = {
    [FEED_RUNTIME_CPYTHON] = { { "/site-packages/", "/dist-packages/", "/lib/python",
                                 "/lib64/python" },
                               { "<frozen " } },
    [FEED_RUNTIME_JVM] = { { NULL }, { "java/", "javax/", "jdk/", "sun/", "com/sun/" } },
    [FEED_RUNTIME_V8] = { { "/node_modules/" }, { "node:", "internal/" } },
    [FEED_RUNTIME_RUBY] = { { "/gems/", "/lib/ruby/" }, { "<internal:", "<cfunc>" } },
    [FEED_RUNTIME_PHP] = { { "/vendor/", "/share/php/" }, { "[internal function]" } },
    [FEED_RUNTIME_PERL] = { { "/share/perl/", "/share/perl5/", "/lib/perl5/" }, { NULL } },
    [FEED_RUNTIME_LUA] = { { "/share/lua/" }, { "[C]" } },
};

/* Packages have packages of their own: the last one counts. NULL: it is not in the folder. */
static const char *behind(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    const char *found = NULL;

    for (const char *at = path; (at = strstr(at, folder)); at++)
        if (folder[length - 1] == '/')
            found = at + length;
        else if (isdigit((unsigned char)at[length]))
            found = strrchr(folder, '/') + 1 - folder + at;
    return found;
}

const char *script_package(enum feed_runtime_kind runtime, const char *path)
{
    const char *const *folders = places[runtime].folders;
    const char *found = NULL;

    for (int i = 0; i < WORDS_MAX && folders[i] && !found; i++)
        found = behind(path, folders[i]);
    return found && *found ? found : NULL;
}

bool script_is_system(enum feed_runtime_kind runtime, const char *path)
{
    const char *const *beginnings = places[runtime].beginnings;

    for (int i = 0; i < WORDS_MAX && beginnings[i]; i++)
        if (!strncmp(path, beginnings[i], strlen(beginnings[i])))
            return true;
    return script_package(runtime, path) != NULL;
}

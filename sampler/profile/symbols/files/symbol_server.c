#include "symbol_server.h"

#include "../../../include/isoscope/isoscope.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define LIBRARY "libdebuginfod.so.1"

struct client;
typedef int progress(struct client *client, long done, long all);

/* What is taken of the library. */
struct calls {
    struct client *(*begin)(void);
    void (*end)(struct client *client);
    void (*set_progress)(struct client *client, progress *call);
    void (*set_user_data)(struct client *client, void *data);
    void *(*user_data)(struct client *client);
    int (*find)(struct client *client, const unsigned char *build_id, int bytes, char **path);
};

struct symbol_server {
    _Atomic bool cancelled;
    struct client *client; /* NULL: not begun, or no memory */
};

static struct calls calls;
static bool loaded; /* both: set once, by load */

static bool take_symbol(void *library, const char *name, void *out)
{
    *(void **)out = dlsym(library, name);
    return *(void **)out != NULL;
}

/* It stays, as all that it brings along. */
static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    loaded = library && take_symbol(library, "debuginfod_begin", &calls.begin) &&
             take_symbol(library, "debuginfod_end", &calls.end) &&
             take_symbol(library, "debuginfod_set_progressfn", &calls.set_progress) &&
             take_symbol(library, "debuginfod_set_user_data", &calls.set_user_data) &&
             take_symbol(library, "debuginfod_get_user_data", &calls.user_data) &&
             take_symbol(library, "debuginfod_find_debuginfo", &calls.find);
}

const char *symbol_server_problem(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *servers = getenv("DEBUGINFOD_URLS");

    if (!servers || !servers[0])
        return "the environment names no server: set DEBUGINFOD_URLS, such as to "
               "https://debuginfod.debian.net";
    pthread_once(&once, load);
    return loaded ? NULL : LIBRARY " is missing: install libdebuginfod1";
}

int symbol_server_new(struct symbol_server **out)
{
    struct symbol_server *server;

    if (symbol_server_problem())
        return -ISOSCOPE_NOT_FOUND;
    server = calloc(1, sizeof(*server));
    if (!server)
        return -ISOSCOPE_NO_MEMORY;
    *out = server;
    return 0;
}

void symbol_server_free(struct symbol_server *server)
{
    if (server && server->client)
        calls.end(server->client);
    free(server);
}

void symbol_server_cancel(struct symbol_server *server)
{
    if (server)
        atomic_store(&server->cancelled, true);
}

/* The library calls it every second at least; not 0 ends what it does. */
static int is_cancelled(struct client *client, long done, long all)
{
    struct symbol_server *server = calls.user_data(client);

    (void)done;
    (void)all;
    return atomic_load(&server->cancelled);
}

int symbol_server_find(struct symbol_server *server, const uint8_t *build_id,
                       uint32_t build_id_bytes)
{
    int fd;

    if (!server->client && (server->client = calls.begin())) {
        calls.set_user_data(server->client, server);
        calls.set_progress(server->client, is_cancelled);
    }
    /* 0 bytes would mean a text. */
    if (!server->client || !build_id_bytes || atomic_load(&server->cancelled))
        return -1;
    fd = calls.find(server->client, build_id, (int)build_id_bytes, NULL);
    return fd < 0 ? -1 : fd;
}

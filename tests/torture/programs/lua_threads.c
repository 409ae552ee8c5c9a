/* lua_threads.so: runs a text in threads, each with a lua_State of its own. run(threads, text, seconds) -> how many failed.
 * Lua is the program's own: what is called is declared here, so that its headers need not be there. */
#include <pthread.h>
#include <stddef.h>

enum { THREADS_MAX = 16 };

struct lua_State;
struct lua_State *luaL_newstate(void);
void luaL_openlibs(struct lua_State *state);
int luaL_loadbufferx(struct lua_State *state, const char *text, size_t bytes, const char *name,
                     const char *mode);
int lua_pcallk(struct lua_State *state, int arguments, int results, int handler, ptrdiff_t context,
               void *continuation);
void lua_close(struct lua_State *state);
void lua_pushnumber(struct lua_State *state, double number);
void lua_pushinteger(struct lua_State *state, long long number);
void lua_pushcclosure(struct lua_State *state, int (*function)(struct lua_State *), int values);
double luaL_checknumber(struct lua_State *state, int at);
long long luaL_checkinteger(struct lua_State *state, int at);
const char *luaL_checklstring(struct lua_State *state, int at, size_t *bytes);
__attribute__((visibility("default"))) int luaopen_lua_threads(struct lua_State *state);

struct job {
    const char *text;
    size_t bytes;
    double seconds;
    int failed;
};

static void *runs(void *argument)
{
    struct job *job = argument;
    struct lua_State *state = luaL_newstate();

    job->failed = 1;
    if (!state)
        return NULL;
    luaL_openlibs(state);
    if (luaL_loadbufferx(state, job->text, job->bytes, "@lua_storms.lua", NULL) == 0) {
        lua_pushnumber(state, job->seconds);
        job->failed = lua_pcallk(state, 1, 0, 0, 0, NULL) != 0;
    }
    lua_close(state);
    return NULL;
}

static int run(struct lua_State *state)
{
    pthread_t threads[THREADS_MAX];
    struct job jobs[THREADS_MAX];
    size_t bytes;
    const char *text = luaL_checklstring(state, 2, &bytes);
    double seconds = luaL_checknumber(state, 3);
    long long count = luaL_checkinteger(state, 1), started = 0, failed = 0;

    for (; started < count && started < THREADS_MAX; started++) {
        jobs[started] = (struct job){ text, bytes, seconds, 1 };
        if (pthread_create(&threads[started], NULL, runs, &jobs[started]) != 0)
            break;
    }
    failed = count - started;
    for (long long i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        failed += jobs[i].failed;
    }
    lua_pushinteger(state, failed);
    return 1;
}

int luaopen_lua_threads(struct lua_State *state)
{
    lua_pushcclosure(state, run, 0);
    return 1;
}

#include "inject.h"

#include "inject_call.h"
#include "inject_checks.h"
#include "inject_objects.h"
#include "inject_place.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/memory.h"
#include "../../include/isoscope/isoscope.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define TIME_NS INT64_C(2000000000) /* for all of it */

struct injection {
    const struct inject_options *options;
    struct refusal *why;
    bool ejects, done;
    int64_t until_ns;
    struct inject_program program;
    struct inject_libc libc;
    struct inject_held held;
    struct inject_call call;
};

/* What the loader says of its last failure. */
static bool refuse_load(struct injection *injection)
{
    char text[200] = "";
    uint64_t at = 0;

    if (!inject_call_function(&injection->call, injection->libc.dlerror, 0, 0, &at, injection->why))
        return false;
    if (at)
        memory_read_some(injection->options->pid, text, at, sizeof(text) - 1);
    return refusal_say(injection->why, "process %d could not load the sampler: %s",
                       (int)injection->options->pid,
                       text[0] ? text : "its loader does not say why");
}

static bool load(struct injection *injection)
{
    struct inject_call *call = &injection->call;
    const char *library = injection->options->library;
    uint64_t path, handle;

    if (!inject_call_put(call, 0, library, strlen(library) + 1, &path, injection->why) ||
        !inject_call_function(call, injection->libc.dlopen, path, RTLD_NOW, &handle,
                              injection->why))
        return false;
    return handle || refuse_load(injection);
}

/* One of the loaded library's functions. */
static bool call_library(struct injection *injection, const char *name, uint64_t first,
                         uint64_t second, uint64_t *result)
{
    pid_t pid = injection->options->pid;
    struct inject_object library;
    uint64_t function = 0;

    if (inject_object_find(&library, pid, INJECT_LIBRARY))
        function = inject_object_function(&library, pid, name);
    if (!function)
        return refusal_say(injection->why, "process %d has no sampler in it", (int)pid);
    return inject_call_function(&injection->call, function, first, second, result, injection->why);
}

/* calls/injected.c's words for it. */
static uint64_t beside(const struct inject_options *options)
{
    return (options->alloc ? 1 : 0) | (options->lock ? 2 : 0);
}

/* One that an earlier isoscope has left running hears of another service only when it is started anew. */
static bool start(struct injection *injection)
{
    const struct inject_options *wanted = injection->options;
    struct isoscope_options options = { sizeof(options), wanted->period_us, NULL };
    uint64_t socket, at, result;

    if (!inject_call_put(&injection->call, 0, wanted->socket, strlen(wanted->socket) + 1, &socket,
                         injection->why))
        return false;
    options.socket = (const char *)socket;
    if (!inject_call_put(&injection->call, 1, &options, sizeof(options), &at, injection->why) ||
        !call_library(injection, "isoscope_start_injected", at, beside(wanted), &result))
        return false;
    if ((int32_t)result == 0)
        return true;
    if ((int32_t)result == -ISOSCOPE_FOREIGN && beside(wanted))
        return refuse_load(injection);
    return refusal_say(injection->why, "the sampler in process %d did not start (error %d)",
                       (int)wanted->pid, -(int32_t)result);
}

static bool work(struct injection *injection)
{
    uint64_t ignored;
    bool done;

    if (!inject_place_find(&injection->held, &injection->program, injection->until_ns,
                           injection->why))
        return false;
    done = inject_call_begin(&injection->call, &injection->held, injection->until_ns,
                             injection->why) &&
           (injection->ejects ? call_library(injection, "isoscope_stop_injected", 0, 0, &ignored)
                              : load(injection) && start(injection));
    inject_call_end(&injection->call);
    return done;
}

static void *trace(void *context)
{
    struct injection *injection = context;

    injection->done = work(injection);
    return NULL;
}

/* When the thread that traces ends, the kernel lets go of all that it traces. */
static bool trace_alone(struct injection *injection)
{
    pthread_t thread;
    sigset_t all, before;
    int problem;

    injection->until_ns = (int64_t)clock_ns(CLOCK_MONOTONIC) + TIME_NS;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    problem = pthread_create(&thread, NULL, trace, injection);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (problem)
        return refusal_say(injection->why, "there is no room for another thread");
    pthread_join(thread, NULL);
    return injection->done;
}

static bool inject_or_eject(const struct inject_options *options, bool ejects, struct refusal *why)
{
    struct injection *injection = calloc(1, sizeof(*injection));
    bool done;

    if (!injection)
        return refusal_say(why, "there is no memory");
    injection->options = options;
    injection->why = why;
    injection->ejects = ejects;
    done = inject_check(options, !ejects, &injection->program, &injection->libc, why) &&
           trace_alone(injection);
    free(injection);
    return done;
}

bool inject(const struct inject_options *options, struct refusal *why)
{
    return inject_or_eject(options, false, why);
}

bool inject_eject(const struct inject_options *options, struct refusal *why)
{
    return inject_or_eject(options, true, why);
}

/*
 * itt_jit.c - Intel's JIT profiling API: a JIT's methods become named code.
 *
 * The program's static part loads the library that INTEL_JIT_PROFILER64 names, asks it by
 * Initialize whether somebody listens, and tells it of each method by NotifyEvent.
 */
#include "../include/isoscope/optional.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    JIT_SAMPLING_ON = 1,
    JIT_SHUTDOWN = 2,
    JIT_LOADED = 13,
    JIT_UNLOADED = 14,
    JIT_UPDATED = 15,
    JIT_LOADED_V2 = 21,
    JIT_LOADED_V3 = 22,
    NAME_BYTES = 256,
};

/* How all versions of it begin. */
struct jit_method {
    unsigned int id;
    const char *name;
    void *start;
    unsigned int bytes;
    unsigned int line_count;
    void *lines;
    unsigned int class_id;
    const char *class_name;
};

struct loaded {
    unsigned int id;
    void *start;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct loaded *methods;
static size_t method_count, method_room;

/* For the end: that has the id alone. */
static void remember(unsigned int id, void *start)
{
    struct loaded *more;

    if (method_count == method_room) {
        more = reallocarray(methods, method_room ? 2 * method_room : 64, sizeof *methods);
        if (!more)
            return;
        methods = more;
        method_room = method_room ? 2 * method_room : 64;
    }
    methods[method_count++] = (struct loaded){ id, start };
}

static void load(const struct jit_method *method)
{
    char name[NAME_BYTES];

    if (!method->start || !method->bytes)
        return;
    if (method->class_name && *method->class_name)
        snprintf(name, sizeof name, "%s::%s", method->class_name,
                 method->name ? method->name : "?");
    else
        snprintf(name, sizeof name, "%s", method->name ? method->name : "?");
    if (isoscope_code_register(method->start, method->bytes, name) == 0)
        remember(method->id, method->start);
}

/* A method that was updated has several pieces. */
static void unload(unsigned int id)
{
    size_t kept = 0;

    for (size_t i = 0; i < method_count; i++)
        if (methods[i].id == id)
            isoscope_code_unregister(methods[i].start);
        else
            methods[kept++] = methods[i];
    method_count = kept;
}

EXPORT unsigned int Initialize(void);
EXPORT unsigned int Initialize(void)
{
    return JIT_SAMPLING_ON;
}

EXPORT unsigned int NotifyEvent(unsigned int event, void *data);
EXPORT unsigned int NotifyEvent(unsigned int event, void *data)
{
    if (event == JIT_SHUTDOWN)
        return 1;
    if (!data)
        return 0;
    pthread_mutex_lock(&lock);
    if (event == JIT_LOADED || event == JIT_UPDATED || event == JIT_LOADED_V2 ||
        event == JIT_LOADED_V3)
        load(data);
    else if (event == JIT_UNLOADED)
        unload(*(const unsigned int *)data);
    pthread_mutex_unlock(&lock);
    return 1;
}

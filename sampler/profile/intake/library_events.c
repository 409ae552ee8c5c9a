#include "library_events.h"

#include "../outside/mapped_files.h"
#include "process_events.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_US = 1000000, MODULES_STEP = 64 };

static void tell(struct process *process, const char *name, const char *path, int64_t now_us)
{
    const struct event_argument argument = { .name = EVENT_WORD("path"),
                                             .type = FEED_ARGUMENT_TEXT,
                                             .text = EVENT_WORD(path) };

    process_events_tell(process, "VM", name, now_us, &argument, 1);
}

/* The program puts them in one after the other. Those that it began with are all that there are when
 * a round finds no more than the one before. */
static void tell_loaded(struct process *process, struct library_events *libraries, int64_t now_us)
{
    uint32_t count = feed_reader_modules(process->reader);
    struct feed_module_view view;

    for (; libraries->begun && libraries->modules < count; libraries->modules++)
        if (feed_reader_module(process->reader, libraries->modules, &view))
            tell(process, "Library loaded", view.path, now_us);
    libraries->begun |= count > 1 && libraries->modules == count;
    libraries->modules = count;
}

static bool make_room(struct library_events *libraries)
{
    uint32_t room = (libraries->modules + MODULES_STEP) / MODULES_STEP * MODULES_STEP;
    uint8_t *gone;

    if (libraries->modules <= libraries->gone_room)
        return true;
    gone = realloc(libraries->gone, room);
    if (!gone)
        return false;
    memset(gone + libraries->gone_room, 0, room - libraries->gone_room);
    libraries->gone = gone;
    libraries->gone_room = room;
    return true;
}

/* FNV-1a. */
static uint64_t key_of(const char *path, uint32_t bytes)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < bytes; i++)
        key = (key ^ (uint8_t)path[i]) * UINT64_C(0x100000001b3);
    return key;
}

struct mapped {
    struct map64 paths;
    bool no_memory;
};

static void note(void *context, const char *path)
{
    struct mapped *mapped = context;
    bool added;
    uint32_t *there = map64_put(&mapped->paths, key_of(path, (uint32_t)strlen(path)), &added);

    mapped->no_memory |= !there;
    if (there)
        *there = 1;
}

static void tell_difference(struct process *process, struct library_events *libraries,
                            const struct mapped *mapped, int64_t now_us)
{
    struct feed_module_view view;

    for (uint32_t number = 1; number < libraries->modules; number++) {
        bool here;

        if (!feed_reader_module(process->reader, number, &view) || view.path[0] != '/')
            continue;
        here = map64_find(&mapped->paths, key_of(view.path, mapped_file_bytes(view.path)));
        if (here == !libraries->gone[number])
            continue;
        libraries->gone[number] = !here;
        tell(process, here ? "Library loaded" : "Library unloaded", view.path, now_us);
    }
}

static bool may_have_changed(const struct library_events *libraries,
                             const struct feed_status_view *status)
{
    return libraries->begun && status->unloads &&
           (status->unloads != libraries->unloads || status->module_looks != libraries->looks);
}

void library_events_tell(struct process *process, const struct feed_status_view *status,
                         int64_t now_us)
{
    struct library_events *libraries = &process->sampling.libraries;
    struct mapped mapped = { 0 };

    tell_loaded(process, libraries, now_us);
    if (!may_have_changed(libraries, status) || now_us - libraries->looked_us < LOOK_US ||
        process->pid <= 0)
        return;
    libraries->looked_us = now_us;
    if (mapped_files(process->pid, note, &mapped) && !mapped.no_memory && make_room(libraries)) {
        tell_difference(process, libraries, &mapped, now_us);
        libraries->unloads = status->unloads;
        libraries->looks = status->module_looks;
    }
    map64_free(&mapped.paths);
}

void library_events_free(struct library_events *libraries)
{
    free(libraries->gone);
    *libraries = (struct library_events){ 0 };
}
